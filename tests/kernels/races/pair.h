// Makes two kernels of each kernel in a file that is included twice, the first time with RACY defined:
// NAME_racy, and NAME_repaired, which has what is in REPAIR.
#undef NAME
#undef EITHER
#undef REPAIR
#ifdef RACY
#define NAME(name) name##_racy
#define EITHER(racy, repaired) racy
#define REPAIR(...)
#else
#define NAME(name) name##_repaired
#define EITHER(racy, repaired) repaired
#define REPAIR(...) __VA_ARGS__
#endif
