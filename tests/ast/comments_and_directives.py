# nk: run f(x=f32[128,512]:randn(0))
#nk: expect reference rtol=1e-2
# nk is not a directive
x = "# nk: not one either"
# nk: snapshot schedule   
    # indented comments mean nothing
if x:
  # nk: inside
    y = 1  # nk: trailing

# last
