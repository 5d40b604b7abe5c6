// Program-scope variables: .data, .bss and a constant.
global int counter = 41;
global int zeroed[5];
constant int primes[4] = {2, 3, 5, 7};

kernel void bump(global int *out, int i) {
    counter += primes[i & 3];
    zeroed[i & 3] += 1;
    out[i] = counter + zeroed[i & 3];
}
