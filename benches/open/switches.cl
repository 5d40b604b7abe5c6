// Code that is mostly one switch.

// A register machine that runs the same program on each work-item's numbers.
kernel void bytecode(global uint *out, global const uint *numbers, global const uchar4 *program,
                     int length, int rounds)
{
    size_t id = get_global_id(0);
    uint r[8];
    for (int i = 0; i < 8; i++)
        r[i] = numbers[id] * (2 * i + 1) + i;
    for (int round = 0; round < rounds; round++) {
        for (int pc = 0; pc < length; pc++) {
            uchar4 code = program[pc];
            uint a = r[code.z & 7], b = r[code.w & 7], result;
            switch (code.x & 15) {
            case 0: result = a + b; break;
            case 1: result = a - b; break;
            case 2: result = a * b; break;
            case 3: result = a & b; break;
            case 4: result = a | b; break;
            case 5: result = a ^ b; break;
            case 6: result = a << (b & 31); break;
            case 7: result = a >> (b & 31); break;
            case 8: result = min(a, b); break;
            case 9: result = max(a, b); break;
            case 10: result = a < b ? code.w : a; break;
            case 11: result = rotate(a, b); break;
            case 12: result = mul_hi(a, b); break;
            case 13: result = popcount(a) + b; break;
            case 14:
                // Skips the next instruction if the number is odd.
                pc += a & 1;
                continue;
            default: result = a / (b | 1); break;
            }
            r[code.y & 7] = result;
        }
    }
    uint sum = 0;
    for (int i = 0; i < 8; i++)
        sum = sum * 31 + r[i];
    out[id] = sum;
}

enum { BLANK, NAME, NUMBER, TEXT, COMMENT };

// Words, numbers, texts and comments in pieces of a program's text.
kernel void lexer(global uint *counts, global const uchar *text, int length)
{
    size_t id = get_global_id(0);
    global const uchar *piece = text + id * length;
    uint names = 0, numbers = 0, texts = 0, comments = 0, other = 0;
    int state = BLANK;
    for (int i = 0; i < length; i++) {
        uchar c = piece[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        bool digit = c >= '0' && c <= '9';
        switch (state) {
        case TEXT:
            if (c == '"')
                state = BLANK;
            break;
        case COMMENT:
            if (c == '#' || c == ';')
                state = BLANK;
            break;
        case NAME:
            if (letter || digit)
                break;
            state = BLANK;
            i--;
            break;
        case NUMBER:
            if (digit || c == '.')
                break;
            state = BLANK;
            i--;
            break;
        default:
            if (letter) {
                state = NAME;
                names++;
            } else if (digit) {
                state = NUMBER;
                numbers++;
            } else if (c == '"') {
                state = TEXT;
                texts++;
            } else if (c == '#') {
                state = COMMENT;
                comments++;
            } else if (c != ' ') {
                other++;
            }
        }
    }
    counts[5 * id] = names;
    counts[5 * id + 1] = numbers;
    counts[5 * id + 2] = texts;
    counts[5 * id + 3] = comments;
    counts[5 * id + 4] = other;
}

// A different operation for each element.
kernel void mixed(global int *out, global const uchar *kinds, global const int *a, global const int *b)
{
    size_t id = get_global_id(0);
    int x = a[id], y = b[id], result = 0;
    switch (kinds[id] % 12) {
    case 0: result = x + y; break;
    case 1: result = (x & y) + ((x ^ y) >> 1); break;
    case 2: for (int i = 0; i < (y & 15); i++) result = result * 3 + x; break;
    case 3: result = x / (y | 1); break;
    case 4: result = x % (y | 1); break;
    case 5: result = clz(x) - popcount(y); break;
    case 6: result = (int)((long)x * y >> 16); break;
    case 7: result = x > y ? x - y : y; break;
    case 8: result = (int)rotate((uint)x, (uint)y); break;
    case 9: result = hadd(x, y); break;
    case 10: result = add_sat(x, y); break;
    default: result = clamp(x, -1000000, 1000000); break;
    }
    out[id] = result;
}
