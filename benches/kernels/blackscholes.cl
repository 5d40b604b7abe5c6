// Prices of European options by Black and Scholes: logarithm, exponentials, a square root and
// divisions of floats.

// The cumulative normal distribution by a polynomial of fifth degree (Abramowitz and Stegun 26.2.17).
static float normal(float d)
{
    float k = 1.0f / fma(0.2316419f, fabs(d), 1.0f);
    float p = fma(k, 1.330274429f, -1.821255978f);
    p = fma(k, p, 1.781477937f);
    p = fma(k, p, -0.356563782f);
    p = fma(k, p, 0.31938153f) * k;
    float tail = 0.39894228f * exp(-0.5f * d * d) * p;
    return d > 0.0f ? 1.0f - tail : tail;
}

kernel void blackscholes(global float *calls, global float *puts, global const float *prices,
                         global const float *strikes, global const float *years, float rate,
                         float volatility, uint n)
{
    size_t i = get_global_id(0);
    if (i >= n)
        return;
    float s = prices[i], x = strikes[i], t = years[i];
    float spread = volatility * sqrt(t);
    float d1 = (log(s / x) + fma(0.5f * volatility, volatility, rate) * t) / spread;
    float d2 = d1 - spread;
    float n1 = normal(d1), n2 = normal(d2);
    float discounted = x * exp(-rate * t);
    calls[i] = s * n1 - discounted * n2;
    puts[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
}
