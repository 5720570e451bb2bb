from .parts.scaling import scaled
