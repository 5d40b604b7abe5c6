"""Writes the chapters of the vector ALU."""

import vector_convert
import vector_float
import vector_int
from case import Chapter


def main():
    vop1 = Chapter("vop1", "VOP1: vector instructions with one source.")
    vop2 = Chapter("vop2", "VOP2: vector instructions with two sources, and those that moved to VOP3 on gfx8.")
    vop3 = Chapter("vop3", "VOP3: vector instructions with up to three sources.")
    vector_int.vop1(vop1)
    vector_int.vop2(vop2)
    vector_int.vop3(vop3)
    vector_float.add(vop1, vop2, vop3)
    vector_convert.add(vop1, vop2, vop3)
    for chapter in (vop1, vop2, vop3):
        chapter.write()


if __name__ == "__main__":
    main()
