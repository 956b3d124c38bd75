# NCHWc
(((n*(-(-C//k)) + c//k)*H + h)*W + w)*k + c%k
N*(-(-C//k))*H*W*k
N  -(-C//k)  H  W  k
# NCHW4c
(((n*(-(-C//4)) + c//4)*H + h)*W + w)*4 + c%4
N*(-(-C//4))*H*W*4
N  -(-C//4)  H  W  4
# NCHW16c
(((n*(-(-C//16)) + c//16)*H + h)*W + w)*16 + c%16
N*(-(-C//16))*H*W*16
N  -(-C//16)  H  W  16
# NCHW
((n*C + c)*H + h)*W + w
N*C*H*W
N  C  H  W
# NHWC
((n*H + h)*W + w)*C + c
N*H*W*C
N  H  W  C
# R4FlatMemoryLayout
((b*H + h)*W + w)*D + d
B*H*W*D
B  H  W  D
# R4NCHWMemoryLayout
((b*D + d)*W + w)*H + h
B*D*W*H
B  D  W  H
# HtpNCHW
((b*D + d)*H + h)*W + w
B*D*H*W
B  D  H  W
# R4Depth32MemoryLayout
((((b*H + h)*(-(-D//32)) + d//32)*(-(-W//4)) + w//4)*4 + w%4)*32 + d%32
B*H*(-(-D//32))*(-(-W//4))*4*32
B  H  -(-D//32)  -(-W//4)  4  32
# R4CroutonLayout
(((((b*(-(-H//8)) + h//8)*(-(-W//8)) + w//8)*(-(-D//32)) + d//32)*8 + h%8)*8 + w%8)*32 + d%32
B*(-(-H//8))*(-(-W//8))*(-(-D//32))*8*8*32
B  -(-H//8)  -(-W//8)  -(-D//32)  8  8  32
# R4Crouton4x1Layout
((((((b*(-(-H//8)) + h//8)*(-(-W//8)) + w//8)*(-(-D//32)) + d//32)*8 + h%8)*2 + w%8//4)*32 + d%32)*4 + w%4
B*(-(-H//8))*(-(-W//8))*(-(-D//32))*8*2*32*4
B  -(-H//8)  -(-W//8)  -(-D//32)  8  2  32  4
# R4Crouton2x2Layout
(((((((b*(-(-H//8)) + h//8)*(-(-W//8)) + w//8)*(-(-D//32)) + d//32)*4 + h%8//2)*4 + w%8//2)*32 + d%32)*2 + h%2)*2 + w%2
B*(-(-H//8))*(-(-W//8))*(-(-D//32))*4*4*32*2*2
B  -(-H//8)  -(-W//8)  -(-D//32)  4  4  32  2  2
# R4Crouton2Layout
((((((b*(-(-H//8)) + h//8)*(-(-W//4)) + w//4)*(-(-D//32)) + d//32)*8 + h%8)*2 + w%4//2)*32 + d%32)*2 + w%2
B*(-(-H//8))*(-(-W//4))*(-(-D//32))*8*2*32*2
B  -(-H//8)  -(-W//4)  -(-D//32)  8  2  32  2
# ChannelMajorCrouton
(((((b*(-(-H//8)) + h//8)*(-(-W//8)) + w//8)*(-(-D//32)) + d//32)*8 + h%8)*8 + w%8)*32 + d%32
B*(-(-H//8))*(-(-W//8))*(-(-D//32))*8*8*32
B  -(-H//8)  -(-W//8)  -(-D//32)  8  8  32
# SpatialXYMajor
(((((((b*(-(-H//8)) + h//8)*(-(-W//8)) + w//8)*(-(-D//32)) + d//32)*4 + h%8//2)*4 + w%8//2)*32 + d%32)*2 + h%2)*2 + w%2
B*(-(-H//8))*(-(-W//8))*(-(-D//32))*4*4*32*2*2
B  -(-H//8)  -(-W//8)  -(-D//32)  4  4  32  2  2
# SpatialXMajor
((((((b*(-(-H//4)) + h//4)*(-(-W//8)) + w//8)*(-(-D//32)) + d//32)*4 + h%4)*2 + w%8//4)*32 + d%32)*4 + w%4
B*(-(-H//4))*(-(-W//8))*(-(-D//32))*4*2*32*4
B  -(-H//4)  -(-W//8)  -(-D//32)  4  2  32  4
# HtpConvWeights
(((((o//32*(-(-I//32)) + i//32)*H + h)*W + w)*8 + i%32//4)*32 + o%32)*4 + i%4
(-(-O//32))*(-(-I//32))*H*W*8*32*4
-(-O//32)  -(-I//32)  H  W  8  32  4
# MaceChannelMajor
((n*H + h)*((-(-C//4))*W) + (c//4*W + w))*4 + c%4
N*H*((-(-C//4))*W)*4
N*H  (-(-C//4))*W  4
# MaceHeightMajor
((n*(-(-H//4)) + h//4)*(C*W) + (c*W + w))*4 + h%4
N*(-(-H//4))*(C*W)*4
N*(-(-H//4))  C*W  4
# MaceWidthMajor
((n*H + h)*(C*(-(-W//4))) + (c*(-(-W//4)) + w//4))*4 + w%4
N*H*(C*(-(-W//4)))*4
N*H  C*(-(-W//4))  4
# MaceConvolutionFilter
(((o//4*H + h)*W + w)*I + i)*4 + o%4
(-(-O//4))*H*W*I*4
(-(-O//4))*H*W  I  4
# MaceDepthwiseFilter
(i//4*(M*H*W) + ((m*H + h)*W + w))*4 + i%4
(-(-I//4))*(M*H*W)*4
-(-I//4)  M*H*W  4
# MaceArgument
(0*(-(-W//4)) + w//4)*4 + w%4
1*(-(-W//4))*4
1  -(-W//4)  4
# LapackPackedUpper
i + j*(j + 1)//2
(N*N + N)//2
(N*N + N)//2
# LapackPackedLower
i + (2*N - j - 1)*j//2
(N*N + N)//2
(N*N + N)//2
# LapackBand
j*(k + l + 1) + (k + i - j)
N*(k + l + 1)
N  k + l + 1
# XlaColumnMajor
x*Y + y
X*Y
X  Y
# XlaRowMajor
y*X + x
Y*X
Y  X
# XlaPaddedColumnMajor
x*P + y
Q*P
Q  P
# XlaPaddedRowMajor
y*Q + x
P*Q
P  Q
# XlaPaddedExample
x*3 + y
5*3
5  3
# XlaTile8x128
((y//8*(-(-X//128)) + x//128)*8 + y%8)*128 + x%128
(-(-Y//8))*(-(-X//128))*8*128
-(-Y//8)  -(-X//128)  8  128
# XlaTile8x128x2
(((y//8*(-(-X//128)) + x//128)*4 + y%8//2)*128 + x%128)*2 + y%2
(-(-Y//8))*(-(-X//128))*4*128*2
-(-Y//8)  -(-X//128)  4  128  2
# Blocked16
(((n*(-(-C//16)) + c//16)*H + h)*W + w)*16 + c%16
N*(-(-C//16))*H*W*16
N  -(-C//16)  H  W  16
# CroutonAsList
(((((b*(-(-H//8)) + h//8)*(-(-W//8)) + w//8)*(-(-D//32)) + d//32)*8 + h%8)*8 + w%8)*32 + d%32
B*(-(-H//8))*(-(-W//8))*(-(-D//32))*8*8*32
B  -(-H//8)  -(-W//8)  -(-D//32)  8  8  32
# CroutonAsChunks
(((((b*(-(-H//8)) + h//8)*(-(-W//8)) + w//8)*(-(-D//32)) + d//32)*8 + h%8)*8 + w%8)*32 + d%32
B*(-(-H//8))*(-(-W//8))*(-(-D//32))*8*8*32
B  -(-H//8)  -(-W//8)  -(-D//32)  8  8  32
# Weights
(((((o//32*(-(-I//32)) + i//32)*H + h)*W + w)*8 + i//4%8)*32 + o%32)*4 + i%4
(-(-O//32))*(-(-I//32))*H*W*8*32*4
-(-O//32)  -(-I//32)  H  W  8  32  4
# PaddedPicture
x*3 + y
5*3
5  3
# TwoTiles
(((y//8*(-(-X//128)) + x//128)*4 + y%8//2)*128 + x%128)*2 + y%2
(-(-Y//8))*(-(-X//128))*4*128*2
-(-Y//8)  -(-X//128)  4  128  2
# ChannelImage
((n*H + h)*((-(-C//4))*W) + (c//4*W + w))*4 + c%4
N*H*((-(-C//4))*W)*4
N*H  (-(-C//4))*W  4
# Renamed
(n*K + c)*4 + k
N*K*4
N  K  4
# Conditioned
(n*(-(-C//4)) + c//4)*4 + c%4
N*(-(-C//4))*4
N  -(-C//4)  4
# Shifted
c//4*4 + c%4
(-(-C//4))*4
-(-C//4)  4
# ThreeDigits
((c//12*H + h)*3 + c//4%3)*4 + c%4
(-(-C//12))*H*3*4
-(-C//12)  H  3  4
# DigitOfDigit
((c//24*H + h)*4 + c%24//6)*6 + c%6
(-(-C//24))*H*4*6
-(-C//24)  H  4  6
# LongDigit
c//16*32 + c%16%32
(-(-C//16))*32
-(-C//16)  32
# ByExtent
(c//H*H + c%H)*H + h
(-(-C//H))*H*H
-(-C//H)  H  H
# Fixed
(x//2*4 + y)*2 + x%2
4*4*2
4  4  2
# Transposed
j*N + i
N*N
N  N
# OneElement
0
1
1
# Unused
c
C
C
# FusedThenCut
(n*C + c)//4*4 + (n*C + c)%4
(-(-(C*N)//4))*4
-(-(C*N)//4)  4
# TupleInTuple
(n*((-(-C//4))*H) + (c//4*H + h))*4 + c%4
N*((-(-C//4))*H)*4
N*((-(-C//4))*H)  4
# PaddedTuple
(n*(3*(-(-C//3))) + c)*1 + 0
N*(3*(-(-C//3)))*1
N*(3*(-(-C//3)))  1
# Pitched
y*(16*(-(-X//16))) + x
Y*(16*(-(-X//16)))
Y  16*(-(-X//16))
# Gapped
y*X + x
(Y + 2)*X
Y + 2  X
# WideBlock
(c//4*H + h)*8 + c%4
(-(-C//4))*H*8
-(-C//4)  H  8
# AtLeastFour
c*max(D, 4) + d
C*max(D, 4)
C  max(D, 4)
# ConstantInside
c*3 + 0
C*3
C  3
# Late
3 + (h*C + c)
3 + H*C
H  C
# LateByShape
2*N + ((n*(-(-C//2)) + c//2)*2 + c%2)
2*N + N*(-(-C//2))*2
N  -(-C//2)  2
# LateChunks
5 + ((c//2*2 + c%2)*H + h)
5 + (-(-C//2))*2*H
-(-C//2)  2  H
# Backwards
h*C + (C - 1 - c)
H*C
H  C
# Rotated
r*8 + (x + r)%8
R*8
R  8
# Swizzled
x ^ x//8%8
8*(-(-X//8))
8*(-(-X//8))
# RowSwizzled
r*8 + (x ^ r)
8*8
8  8
# Scaled
c*2
2*C - 1
2*C - 1
# Overlapping
(c//4*H + h)*8 + c%8
(-(-C//4))*H*8
-(-C//4)  H  8
# Nibbles
(k*(-(-N//8)) + n//8)*8 + n%8
K*(-(-N//8))*8
K  -(-N//8)  8
# NegativeFill
c//4*4 + c%4
(-(-C//4))*4
-(-C//4)  4
# AnyFill
c//4*4 + c%4
(-(-C//4))*4
-(-C//4)  4
# ZeroPoint
c//4*4 + c%4
(-(-C//4))*4
-(-C//4)  4
# Cut
(c//k*H + h)*k + c%k
(-(-C//k))*H*k
-(-C//k)  H  k
# CutTwice
(c//(j*k)*k + c%k)*j + c//k%j
(-(-C//(j*k)))*k*j
-(-C//(j*k))  k  j
# CutBy6
(c//6*H + h)*6 + c%6
(-(-C//6))*H*6
-(-C//6)  H  6
# CutAgain
(c//(2*m)*2 + c%2)*m + c//2%m
(-(-C//(2*m)))*2*m
-(-C//(2*m))  2  m
