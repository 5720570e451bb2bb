shape = (128,
         512
