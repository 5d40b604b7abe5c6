// One step of n bodies that attract one another: every body against every other, straight from
// global memory. A body is x, y, z and its mass.
kernel void nbody(global float4 *out, global float4 *velocity, global const float4 *bodies, uint n,
                  float softening, float time)
{
    size_t i = get_global_id(0);
    if (i >= n)
        return;
    float4 me = bodies[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (uint k = 0; k < n; k++) {
        float4 other = bodies[k];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float inverse = rsqrt(fma(dx, dx, fma(dy, dy, fma(dz, dz, softening))));
        float force = other.w * inverse * inverse * inverse;
        ax = fma(dx, force, ax);
        ay = fma(dy, force, ay);
        az = fma(dz, force, az);
    }
    float4 v = velocity[i];
    v.x = fma(ax, time, v.x);
    v.y = fma(ay, time, v.y);
    v.z = fma(az, time, v.z);
    velocity[i] = v;
    me.x = fma(v.x, time, me.x);
    me.y = fma(v.y, time, me.y);
    me.z = fma(v.z, time, me.z);
    out[i] = me;
}
