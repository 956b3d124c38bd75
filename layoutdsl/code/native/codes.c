/* Numbers to codes, and back. Nothing here knows of layouts: what is packed are codes. A code is the nearest
   to number/scale + zero point, of two as near the one an even number of steps from the zero point, and
   none is beyond the least or the largest. This is so exactly, for every float: a quotient that was
   rounded lies on the same side of each half as the true one, unless it is a half itself, and of those
   `fmod` leaves the exact rest. */

#include <float.h>
#include <math.h>

#if defined(__FAST_MATH__) || (defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0)
#error "codes are the nearest where floats are those of IEEE 754, each rounded by itself"
#endif

/* How many steps a number is from 0: the nearest integer, of two the even one. */
static double STEM_steps(double number, double scale)
{
    const double quotient = number / scale, steps = rint(quotient);
    if (steps == quotient || rint(quotient + quotient) != quotient + quotient) return steps;
    const double rest = fmod(fabs(number), scale), room = scale - rest;
    return rest == room ? steps : copysign(floor(fabs(quotient)) + (rest > room), number);
}

static int STEM_fits(const double *scale, const int64_t *zero_point, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        if (!(scale[k] > 0 && scale[k] <= DBL_MAX)) return 0;
        if (zero_point[k] < LEAST || zero_point[k] > LARGEST) return 0;
    }
    return 1;
}
