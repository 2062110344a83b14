/* The size classes of objects. */
#ifndef JP_VIEW_SIZEVIEW_H
#define JP_VIEW_SIZEVIEW_H

/* The class of a stack's objects by their mean size: the smallest that is not below it. Its number, and in *limit its
 * bytes. */
unsigned jp_mean_size_class(double size, double *limit);

#endif
