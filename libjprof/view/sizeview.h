/* The size classes of objects. */
#pragma once

/* The class of a stack's objects by their mean size: the smallest that is not below it. Its number, and in *limit its
 * bytes. */
unsigned jp_mean_size_class(double size, double *limit);
