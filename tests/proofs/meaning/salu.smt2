; Scalar instructions. S0, S1: s0, s1; the old destination: d; SIMM16: imm; SCC and EXEC before: scc,
; exec. NAME is what the destination gets, NAME.scc SCC, NAME.exec EXEC. SCC is kept where there is
; no NAME.scc.

; ---- arithmetic
(define-fun s_add_u32 ((s0 B32) (s1 B32)) B32
  (bvadd s0 s1))
(define-fun s_add_u32.scc ((s0 B32) (s1 B32)) B1
  (carry33 (bvadd (w33 s0) (w33 s1))))
(define-fun s_sub_u32 ((s0 B32) (s1 B32)) B32
  (bvsub s0 s1))
(define-fun s_sub_u32.scc ((s0 B32) (s1 B32)) B1
  (bit (bvugt s1 s0)))
(define-fun s_add_i32 ((s0 B32) (s1 B32)) B32
  (bvadd s0 s1))
(define-fun s_add_i32.scc ((s0 B32) (s1 B32)) B1
  (bit (and (= (sign s0) (sign s1)) (distinct (sign s0) (sign (bvadd s0 s1))))))
(define-fun s_sub_i32 ((s0 B32) (s1 B32)) B32
  (bvsub s0 s1))
(define-fun s_sub_i32.scc ((s0 B32) (s1 B32)) B1
  (bit (and (distinct (sign s0) (sign s1)) (distinct (sign s0) (sign (bvsub s0 s1))))))
(define-fun s_addc_u32 ((s0 B32) (s1 B32) (scc B1)) B32
  (bvadd s0 s1 ((_ zero_extend 31) scc)))
(define-fun s_addc_u32.scc ((s0 B32) (s1 B32) (scc B1)) B1
  (carry33 (bvadd (w33 s0) (w33 s1) ((_ zero_extend 32) scc))))
(define-fun s_subb_u32 ((s0 B32) (s1 B32) (scc B1)) B32
  (bvsub (bvsub s0 s1) ((_ zero_extend 31) scc)))
(define-fun s_subb_u32.scc ((s0 B32) (s1 B32) (scc B1)) B1
  (bit (bvugt (bvadd (w33 s1) ((_ zero_extend 32) scc)) (w33 s0))))
(define-fun s_min_i32 ((s0 B32) (s1 B32)) B32
  (ite (bvslt s0 s1) s0 s1))
(define-fun s_min_i32.scc ((s0 B32) (s1 B32)) B1
  (bit (bvslt s0 s1)))
(define-fun s_min_u32 ((s0 B32) (s1 B32)) B32
  (ite (bvult s0 s1) s0 s1))
(define-fun s_min_u32.scc ((s0 B32) (s1 B32)) B1
  (bit (bvult s0 s1)))
(define-fun s_max_i32 ((s0 B32) (s1 B32)) B32
  (ite (bvsgt s0 s1) s0 s1))
(define-fun s_max_i32.scc ((s0 B32) (s1 B32)) B1
  (bit (bvsgt s0 s1)))
(define-fun s_max_u32 ((s0 B32) (s1 B32)) B32
  (ite (bvugt s0 s1) s0 s1))
(define-fun s_max_u32.scc ((s0 B32) (s1 B32)) B1
  (bit (bvugt s0 s1)))
(define-fun s_cselect_b32 ((s0 B32) (s1 B32) (scc B1)) B32
  (ite (= scc #b1) s0 s1))
(define-fun s_cselect_b64 ((s0 B64) (s1 B64) (scc B1)) B64
  (ite (= scc #b1) s0 s1))
(define-fun s_mul_i32 ((s0 B32) (s1 B32)) B32
  (mul32 s0 s1))
(define-fun s_mul_hi_u32 ((s0 B32) (s1 B32)) B32
  (high (umul64 s0 s1)))
(define-fun s_mul_hi_i32 ((s0 B32) (s1 B32)) B32
  (high (smul64 s0 s1)))
(define-fun s_abs_i32 ((s0 B32)) B32
  (ite (bvslt s0 #x00000000) (bvneg s0) s0))
(define-fun s_abs_i32.scc ((s0 B32)) B1
  (nz32 (s_abs_i32 s0)))
(define-fun s_absdiff_i32 ((s0 B32) (s1 B32)) B32
  (ite (bvslt (bvsub s0 s1) #x00000000) (bvneg (bvsub s0 s1)) (bvsub s0 s1)))
(define-fun s_absdiff_i32.scc ((s0 B32) (s1 B32)) B1
  (nz32 (s_absdiff_i32 s0 s1)))
(define-fun s_lshl1_add_u32 ((s0 B32) (s1 B32)) B32
  (bvadd (bvshl s0 #x00000001) s1))
(define-fun s_lshl1_add_u32.scc ((s0 B32) (s1 B32)) B1
  (bit (bvuge (bvadd (bvshl (uw64 s0) #x0000000000000001) (uw64 s1)) #x0000000100000000)))
(define-fun s_lshl2_add_u32 ((s0 B32) (s1 B32)) B32
  (bvadd (bvshl s0 #x00000002) s1))
(define-fun s_lshl2_add_u32.scc ((s0 B32) (s1 B32)) B1
  (bit (bvuge (bvadd (bvshl (uw64 s0) #x0000000000000002) (uw64 s1)) #x0000000100000000)))
(define-fun s_lshl3_add_u32 ((s0 B32) (s1 B32)) B32
  (bvadd (bvshl s0 #x00000003) s1))
(define-fun s_lshl3_add_u32.scc ((s0 B32) (s1 B32)) B1
  (bit (bvuge (bvadd (bvshl (uw64 s0) #x0000000000000003) (uw64 s1)) #x0000000100000000)))
(define-fun s_lshl4_add_u32 ((s0 B32) (s1 B32)) B32
  (bvadd (bvshl s0 #x00000004) s1))
(define-fun s_lshl4_add_u32.scc ((s0 B32) (s1 B32)) B1
  (bit (bvuge (bvadd (bvshl (uw64 s0) #x0000000000000004) (uw64 s1)) #x0000000100000000)))
(define-fun s_pack_ll_b32_b16 ((s0 B32) (s1 B32)) B32
  (concat (lo16 s1) (lo16 s0)))
(define-fun s_pack_lh_b32_b16 ((s0 B32) (s1 B32)) B32
  (concat (hi16 s1) (lo16 s0)))
(define-fun s_pack_hh_b32_b16 ((s0 B32) (s1 B32)) B32
  (concat (hi16 s1) (hi16 s0)))

; ---- logic
(define-fun s_and_b32 ((s0 B32) (s1 B32)) B32
  (bvand s0 s1))
(define-fun s_and_b32.scc ((s0 B32) (s1 B32)) B1
  (nz32 (s_and_b32 s0 s1)))
(define-fun s_or_b32 ((s0 B32) (s1 B32)) B32
  (bvor s0 s1))
(define-fun s_or_b32.scc ((s0 B32) (s1 B32)) B1
  (nz32 (s_or_b32 s0 s1)))
(define-fun s_xor_b32 ((s0 B32) (s1 B32)) B32
  (bvxor s0 s1))
(define-fun s_xor_b32.scc ((s0 B32) (s1 B32)) B1
  (nz32 (s_xor_b32 s0 s1)))
(define-fun s_andn2_b32 ((s0 B32) (s1 B32)) B32
  (bvand s0 (bvnot s1)))
(define-fun s_andn2_b32.scc ((s0 B32) (s1 B32)) B1
  (nz32 (s_andn2_b32 s0 s1)))
(define-fun s_orn2_b32 ((s0 B32) (s1 B32)) B32
  (bvor s0 (bvnot s1)))
(define-fun s_orn2_b32.scc ((s0 B32) (s1 B32)) B1
  (nz32 (s_orn2_b32 s0 s1)))
(define-fun s_nand_b32 ((s0 B32) (s1 B32)) B32
  (bvnot (bvand s0 s1)))
(define-fun s_nand_b32.scc ((s0 B32) (s1 B32)) B1
  (nz32 (s_nand_b32 s0 s1)))
(define-fun s_nor_b32 ((s0 B32) (s1 B32)) B32
  (bvnot (bvor s0 s1)))
(define-fun s_nor_b32.scc ((s0 B32) (s1 B32)) B1
  (nz32 (s_nor_b32 s0 s1)))
(define-fun s_xnor_b32 ((s0 B32) (s1 B32)) B32
  (bvnot (bvxor s0 s1)))
(define-fun s_xnor_b32.scc ((s0 B32) (s1 B32)) B1
  (nz32 (s_xnor_b32 s0 s1)))
(define-fun s_not_b32 ((s0 B32)) B32
  (bvnot s0))
(define-fun s_not_b32.scc ((s0 B32)) B1
  (nz32 (bvnot s0)))
(define-fun s_mov_b32 ((s0 B32)) B32
  s0)
(define-fun s_cmov_b32 ((s0 B32) (d B32) (scc B1)) B32
  (ite (= scc #b1) s0 d))
(define-fun s_and_b64 ((s0 B64) (s1 B64)) B64
  (bvand s0 s1))
(define-fun s_and_b64.scc ((s0 B64) (s1 B64)) B1
  (nz64 (s_and_b64 s0 s1)))
(define-fun s_or_b64 ((s0 B64) (s1 B64)) B64
  (bvor s0 s1))
(define-fun s_or_b64.scc ((s0 B64) (s1 B64)) B1
  (nz64 (s_or_b64 s0 s1)))
(define-fun s_xor_b64 ((s0 B64) (s1 B64)) B64
  (bvxor s0 s1))
(define-fun s_xor_b64.scc ((s0 B64) (s1 B64)) B1
  (nz64 (s_xor_b64 s0 s1)))
(define-fun s_andn2_b64 ((s0 B64) (s1 B64)) B64
  (bvand s0 (bvnot s1)))
(define-fun s_andn2_b64.scc ((s0 B64) (s1 B64)) B1
  (nz64 (s_andn2_b64 s0 s1)))
(define-fun s_orn2_b64 ((s0 B64) (s1 B64)) B64
  (bvor s0 (bvnot s1)))
(define-fun s_orn2_b64.scc ((s0 B64) (s1 B64)) B1
  (nz64 (s_orn2_b64 s0 s1)))
(define-fun s_nand_b64 ((s0 B64) (s1 B64)) B64
  (bvnot (bvand s0 s1)))
(define-fun s_nand_b64.scc ((s0 B64) (s1 B64)) B1
  (nz64 (s_nand_b64 s0 s1)))
(define-fun s_nor_b64 ((s0 B64) (s1 B64)) B64
  (bvnot (bvor s0 s1)))
(define-fun s_nor_b64.scc ((s0 B64) (s1 B64)) B1
  (nz64 (s_nor_b64 s0 s1)))
(define-fun s_xnor_b64 ((s0 B64) (s1 B64)) B64
  (bvnot (bvxor s0 s1)))
(define-fun s_xnor_b64.scc ((s0 B64) (s1 B64)) B1
  (nz64 (s_xnor_b64 s0 s1)))
(define-fun s_not_b64 ((s0 B64)) B64
  (bvnot s0))
(define-fun s_not_b64.scc ((s0 B64)) B1
  (nz64 (bvnot s0)))
(define-fun s_mov_b64 ((s0 B64)) B64
  s0)
(define-fun s_cmov_b64 ((s0 B64) (d B64) (scc B1)) B64
  (ite (= scc #b1) s0 d))

; ---- shifts and fields
(define-fun s_lshl_b32 ((s0 B32) (s1 B32)) B32
  (bvshl s0 (amount5 s1)))
(define-fun s_lshl_b32.scc ((s0 B32) (s1 B32)) B1
  (nz32 (s_lshl_b32 s0 s1)))
(define-fun s_lshl_b64 ((s0 B64) (s1 B32)) B64
  (bvshl s0 (amount6 s1)))
(define-fun s_lshl_b64.scc ((s0 B64) (s1 B32)) B1
  (nz64 (s_lshl_b64 s0 s1)))
(define-fun s_lshr_b32 ((s0 B32) (s1 B32)) B32
  (bvlshr s0 (amount5 s1)))
(define-fun s_lshr_b32.scc ((s0 B32) (s1 B32)) B1
  (nz32 (s_lshr_b32 s0 s1)))
(define-fun s_lshr_b64 ((s0 B64) (s1 B32)) B64
  (bvlshr s0 (amount6 s1)))
(define-fun s_lshr_b64.scc ((s0 B64) (s1 B32)) B1
  (nz64 (s_lshr_b64 s0 s1)))
(define-fun s_ashr_i32 ((s0 B32) (s1 B32)) B32
  (bvashr s0 (amount5 s1)))
(define-fun s_ashr_i32.scc ((s0 B32) (s1 B32)) B1
  (nz32 (s_ashr_i32 s0 s1)))
(define-fun s_ashr_i64 ((s0 B64) (s1 B32)) B64
  (bvashr s0 (amount6 s1)))
(define-fun s_ashr_i64.scc ((s0 B64) (s1 B32)) B1
  (nz64 (s_ashr_i64 s0 s1)))
(define-fun s_bfm_b32 ((s0 B32) (s1 B32)) B32
  (bvshl (bvsub (bvshl #x00000001 (amount5 s0)) #x00000001) (amount5 s1)))
(define-fun s_bfm_b64 ((s0 B32) (s1 B32)) B64
  (bvshl (bvsub (bvshl #x0000000000000001 (amount6 s0)) #x0000000000000001) (amount6 s1)))
; Bits of s0 from S1[4:0] or S1[5:0] on; S1[22:16] is their number. A shift by the width or more gives
; a mask of ones here, as 1 << width is 0. The sign is bit (number - 1); of a number that reaches
; beyond the operand it is that of what the shift has brought in.
(define-fun field_width ((s1 B32)) B64
  ((_ zero_extend 57) ((_ extract 22 16) s1)))
(define-fun field_u64 ((x B64) (n B64)) B64
  (bvand x (bvsub (bvshl #x0000000000000001 n) #x0000000000000001)))
(define-fun field_i64 ((x B64) (n B64)) B64
  (ite (= n #x0000000000000000) #x0000000000000000
    (ite (bvuge n #x0000000000000040) x
      (bvashr (bvshl x (bvsub #x0000000000000040 n)) (bvsub #x0000000000000040 n)))))
(define-fun s_bfe_u32 ((s0 B32) (s1 B32)) B32
  (low (field_u64 (uw64 (bvlshr s0 (amount5 s1))) (field_width s1))))
(define-fun s_bfe_u32.scc ((s0 B32) (s1 B32)) B1
  (nz32 (s_bfe_u32 s0 s1)))
(define-fun s_bfe_i32 ((s0 B32) (s1 B32)) B32
  (low (field_i64 (sw64 (bvashr s0 (amount5 s1))) (field_width s1))))
(define-fun s_bfe_i32.scc ((s0 B32) (s1 B32)) B1
  (nz32 (s_bfe_i32 s0 s1)))
(define-fun s_bfe_u64 ((s0 B64) (s1 B32)) B64
  (field_u64 (bvlshr s0 (amount6 s1)) (field_width s1)))
(define-fun s_bfe_u64.scc ((s0 B64) (s1 B32)) B1
  (nz64 (s_bfe_u64 s0 s1)))
(define-fun s_bfe_i64 ((s0 B64) (s1 B32)) B64
  (field_i64 (bvashr s0 (amount6 s1)) (field_width s1)))
(define-fun s_bfe_i64.scc ((s0 B64) (s1 B32)) B1
  (nz64 (s_bfe_i64 s0 s1)))

; ---- bits
(define-fun s_brev_b32 ((s0 B32)) B32
  (reverse32 s0))
(define-fun s_bcnt0_i32_b32 ((s0 B32)) B32
  (ones32 (bvnot s0)))
(define-fun s_bcnt0_i32_b32.scc ((s0 B32)) B1
  (nz32 (ones32 (bvnot s0))))
(define-fun s_bcnt1_i32_b32 ((s0 B32)) B32
  (ones32 s0))
(define-fun s_bcnt1_i32_b32.scc ((s0 B32)) B1
  (nz32 (ones32 s0)))
(define-fun s_ff0_i32_b32 ((s0 B32)) B32
  (ite (= (bvnot s0) #x00000000) #xffffffff (first32 (bvnot s0))))
(define-fun s_ff1_i32_b32 ((s0 B32)) B32
  (ite (= s0 #x00000000) #xffffffff (first32 s0)))
(define-fun s_flbit_i32_b32 ((s0 B32)) B32
  (ite (= s0 #x00000000) #xffffffff (first32 (reverse32 s0))))
(define-fun s_flbit_i32 ((s0 B32)) B32
  (ite (= (bvxor s0 (bvashr s0 #x0000001f)) #x00000000) #xffffffff (first32 (reverse32 (bvxor s0 (bvashr s0 #x0000001f))))))
(define-fun s_bitset0_b32 ((s0 B32) (d B32)) B32
  (bvand d (bvnot (bvshl #x00000001 (amount5 s0)))))
(define-fun s_bitset1_b32 ((s0 B32) (d B32)) B32
  (bvor d (bvshl #x00000001 (amount5 s0))))
(define-fun s_wqm_b32 ((s0 B32)) B32
  (spread_quads32 (quads32 s0)))
(define-fun s_wqm_b32.scc ((s0 B32)) B1
  (nz32 (s_wqm_b32 s0)))
(define-fun s_brev_b64 ((s0 B64)) B64
  (reverse64 s0))
(define-fun s_bcnt0_i32_b64 ((s0 B64)) B32
  (ones64 (bvnot s0)))
(define-fun s_bcnt0_i32_b64.scc ((s0 B64)) B1
  (nz32 (ones64 (bvnot s0))))
(define-fun s_bcnt1_i32_b64 ((s0 B64)) B32
  (ones64 s0))
(define-fun s_bcnt1_i32_b64.scc ((s0 B64)) B1
  (nz32 (ones64 s0)))
(define-fun s_ff0_i32_b64 ((s0 B64)) B32
  (ite (= (bvnot s0) #x0000000000000000) #xffffffff (first64 (bvnot s0))))
(define-fun s_ff1_i32_b64 ((s0 B64)) B32
  (ite (= s0 #x0000000000000000) #xffffffff (first64 s0)))
(define-fun s_flbit_i32_b64 ((s0 B64)) B32
  (ite (= s0 #x0000000000000000) #xffffffff (first64 (reverse64 s0))))
(define-fun s_flbit_i32_i64 ((s0 B64)) B32
  (ite (= (bvxor s0 (bvashr s0 #x000000000000003f)) #x0000000000000000) #xffffffff (first64 (reverse64 (bvxor s0 (bvashr s0 #x000000000000003f))))))
(define-fun s_bitset0_b64 ((s0 B32) (d B64)) B64
  (bvand d (bvnot (bvshl #x0000000000000001 (amount6 s0)))))
(define-fun s_bitset1_b64 ((s0 B32) (d B64)) B64
  (bvor d (bvshl #x0000000000000001 (amount6 s0))))
(define-fun s_wqm_b64 ((s0 B64)) B64
  (spread_quads64 (quads64 s0)))
(define-fun s_wqm_b64.scc ((s0 B64)) B1
  (nz64 (s_wqm_b64 s0)))
(define-fun s_quadmask_b32 ((s0 B32)) B32
  ((_ zero_extend 24) (quads32 s0)))
(define-fun s_quadmask_b32.scc ((s0 B32)) B1
  (nz32 (s_quadmask_b32 s0)))
(define-fun s_quadmask_b64 ((s0 B64)) B64
  ((_ zero_extend 48) (quads64 s0)))
(define-fun s_quadmask_b64.scc ((s0 B64)) B1
  (nz64 (s_quadmask_b64 s0)))
(define-fun s_bitreplicate_b64_b32 ((s0 B32)) B64
  (double32 s0))
(define-fun s_sext_i32_i8 ((s0 B32)) B32
  ((_ sign_extend 24) ((_ extract 7 0) s0)))
(define-fun s_sext_i32_i16 ((s0 B32)) B32
  ((_ sign_extend 16) ((_ extract 15 0) s0)))

; ---- EXEC
(define-fun s_and_saveexec_b64 ((s0 B64) (exec B64)) B64
  exec)
(define-fun s_and_saveexec_b64.exec ((s0 B64) (exec B64)) B64
  (bvand s0 exec))
(define-fun s_and_saveexec_b64.scc ((s0 B64) (exec B64)) B1
  (nz64 (bvand s0 exec)))
(define-fun s_or_saveexec_b64 ((s0 B64) (exec B64)) B64
  exec)
(define-fun s_or_saveexec_b64.exec ((s0 B64) (exec B64)) B64
  (bvor s0 exec))
(define-fun s_or_saveexec_b64.scc ((s0 B64) (exec B64)) B1
  (nz64 (bvor s0 exec)))
(define-fun s_xor_saveexec_b64 ((s0 B64) (exec B64)) B64
  exec)
(define-fun s_xor_saveexec_b64.exec ((s0 B64) (exec B64)) B64
  (bvxor s0 exec))
(define-fun s_xor_saveexec_b64.scc ((s0 B64) (exec B64)) B1
  (nz64 (bvxor s0 exec)))
(define-fun s_andn2_saveexec_b64 ((s0 B64) (exec B64)) B64
  exec)
(define-fun s_andn2_saveexec_b64.exec ((s0 B64) (exec B64)) B64
  (bvand s0 (bvnot exec)))
(define-fun s_andn2_saveexec_b64.scc ((s0 B64) (exec B64)) B1
  (nz64 (bvand s0 (bvnot exec))))
(define-fun s_orn2_saveexec_b64 ((s0 B64) (exec B64)) B64
  exec)
(define-fun s_orn2_saveexec_b64.exec ((s0 B64) (exec B64)) B64
  (bvor s0 (bvnot exec)))
(define-fun s_orn2_saveexec_b64.scc ((s0 B64) (exec B64)) B1
  (nz64 (bvor s0 (bvnot exec))))
(define-fun s_nand_saveexec_b64 ((s0 B64) (exec B64)) B64
  exec)
(define-fun s_nand_saveexec_b64.exec ((s0 B64) (exec B64)) B64
  (bvnot (bvand s0 exec)))
(define-fun s_nand_saveexec_b64.scc ((s0 B64) (exec B64)) B1
  (nz64 (bvnot (bvand s0 exec))))
(define-fun s_nor_saveexec_b64 ((s0 B64) (exec B64)) B64
  exec)
(define-fun s_nor_saveexec_b64.exec ((s0 B64) (exec B64)) B64
  (bvnot (bvor s0 exec)))
(define-fun s_nor_saveexec_b64.scc ((s0 B64) (exec B64)) B1
  (nz64 (bvnot (bvor s0 exec))))
(define-fun s_xnor_saveexec_b64 ((s0 B64) (exec B64)) B64
  exec)
(define-fun s_xnor_saveexec_b64.exec ((s0 B64) (exec B64)) B64
  (bvnot (bvxor s0 exec)))
(define-fun s_xnor_saveexec_b64.scc ((s0 B64) (exec B64)) B1
  (nz64 (bvnot (bvxor s0 exec))))
(define-fun s_andn1_saveexec_b64 ((s0 B64) (exec B64)) B64
  exec)
(define-fun s_andn1_saveexec_b64.exec ((s0 B64) (exec B64)) B64
  (bvand (bvnot s0) exec))
(define-fun s_andn1_saveexec_b64.scc ((s0 B64) (exec B64)) B1
  (nz64 (bvand (bvnot s0) exec)))
(define-fun s_orn1_saveexec_b64 ((s0 B64) (exec B64)) B64
  exec)
(define-fun s_orn1_saveexec_b64.exec ((s0 B64) (exec B64)) B64
  (bvor (bvnot s0) exec))
(define-fun s_orn1_saveexec_b64.scc ((s0 B64) (exec B64)) B1
  (nz64 (bvor (bvnot s0) exec)))
(define-fun s_andn1_wrexec_b64 ((s0 B64) (exec B64)) B64
  (bvand (bvnot s0) exec))
(define-fun s_andn1_wrexec_b64.exec ((s0 B64) (exec B64)) B64
  (bvand (bvnot s0) exec))
(define-fun s_andn1_wrexec_b64.scc ((s0 B64) (exec B64)) B1
  (nz64 (bvand (bvnot s0) exec)))
(define-fun s_andn2_wrexec_b64 ((s0 B64) (exec B64)) B64
  (bvand s0 (bvnot exec)))
(define-fun s_andn2_wrexec_b64.exec ((s0 B64) (exec B64)) B64
  (bvand s0 (bvnot exec)))
(define-fun s_andn2_wrexec_b64.scc ((s0 B64) (exec B64)) B1
  (nz64 (bvand s0 (bvnot exec))))

; ---- comparisons
(define-fun s_cmp_eq_i32.scc ((s0 B32) (s1 B32)) B1
  (bit (= s0 s1)))
(define-fun s_cmp_lg_i32.scc ((s0 B32) (s1 B32)) B1
  (bit (distinct s0 s1)))
(define-fun s_cmp_gt_i32.scc ((s0 B32) (s1 B32)) B1
  (bit (bvsgt s0 s1)))
(define-fun s_cmp_ge_i32.scc ((s0 B32) (s1 B32)) B1
  (bit (bvsge s0 s1)))
(define-fun s_cmp_lt_i32.scc ((s0 B32) (s1 B32)) B1
  (bit (bvslt s0 s1)))
(define-fun s_cmp_le_i32.scc ((s0 B32) (s1 B32)) B1
  (bit (bvsle s0 s1)))
(define-fun s_cmp_eq_u32.scc ((s0 B32) (s1 B32)) B1
  (bit (= s0 s1)))
(define-fun s_cmp_lg_u32.scc ((s0 B32) (s1 B32)) B1
  (bit (distinct s0 s1)))
(define-fun s_cmp_gt_u32.scc ((s0 B32) (s1 B32)) B1
  (bit (bvugt s0 s1)))
(define-fun s_cmp_ge_u32.scc ((s0 B32) (s1 B32)) B1
  (bit (bvuge s0 s1)))
(define-fun s_cmp_lt_u32.scc ((s0 B32) (s1 B32)) B1
  (bit (bvult s0 s1)))
(define-fun s_cmp_le_u32.scc ((s0 B32) (s1 B32)) B1
  (bit (bvule s0 s1)))
(define-fun s_cmp_eq_u64.scc ((s0 B64) (s1 B64)) B1
  (bit (= s0 s1)))
(define-fun s_cmp_lg_u64.scc ((s0 B64) (s1 B64)) B1
  (bit (distinct s0 s1)))
(define-fun s_bitcmp0_b32.scc ((s0 B32) (s1 B32)) B1
  (bit (= ((_ extract 0 0) (bvlshr s0 (amount5 s1))) #b0)))
(define-fun s_bitcmp1_b32.scc ((s0 B32) (s1 B32)) B1
  (bit (= ((_ extract 0 0) (bvlshr s0 (amount5 s1))) #b1)))
(define-fun s_bitcmp0_b64.scc ((s0 B64) (s1 B32)) B1
  (bit (= ((_ extract 0 0) (bvlshr s0 (amount6 s1))) #b0)))
(define-fun s_bitcmp1_b64.scc ((s0 B64) (s1 B32)) B1
  (bit (= ((_ extract 0 0) (bvlshr s0 (amount6 s1))) #b1)))

; ---- constants of 16 bits in the instruction
(define-fun s_cmpk_eq_i32.scc ((s0 B32) (imm B16)) B1
  (bit (= s0 ((_ sign_extend 16) imm))))
(define-fun s_cmpk_lg_i32.scc ((s0 B32) (imm B16)) B1
  (bit (distinct s0 ((_ sign_extend 16) imm))))
(define-fun s_cmpk_gt_i32.scc ((s0 B32) (imm B16)) B1
  (bit (bvsgt s0 ((_ sign_extend 16) imm))))
(define-fun s_cmpk_ge_i32.scc ((s0 B32) (imm B16)) B1
  (bit (bvsge s0 ((_ sign_extend 16) imm))))
(define-fun s_cmpk_lt_i32.scc ((s0 B32) (imm B16)) B1
  (bit (bvslt s0 ((_ sign_extend 16) imm))))
(define-fun s_cmpk_le_i32.scc ((s0 B32) (imm B16)) B1
  (bit (bvsle s0 ((_ sign_extend 16) imm))))
(define-fun s_cmpk_eq_u32.scc ((s0 B32) (imm B16)) B1
  (bit (= s0 ((_ zero_extend 16) imm))))
(define-fun s_cmpk_lg_u32.scc ((s0 B32) (imm B16)) B1
  (bit (distinct s0 ((_ zero_extend 16) imm))))
(define-fun s_cmpk_gt_u32.scc ((s0 B32) (imm B16)) B1
  (bit (bvugt s0 ((_ zero_extend 16) imm))))
(define-fun s_cmpk_ge_u32.scc ((s0 B32) (imm B16)) B1
  (bit (bvuge s0 ((_ zero_extend 16) imm))))
(define-fun s_cmpk_lt_u32.scc ((s0 B32) (imm B16)) B1
  (bit (bvult s0 ((_ zero_extend 16) imm))))
(define-fun s_cmpk_le_u32.scc ((s0 B32) (imm B16)) B1
  (bit (bvule s0 ((_ zero_extend 16) imm))))
(define-fun s_movk_i32 ((imm B16)) B32
  ((_ sign_extend 16) imm))
(define-fun s_cmovk_i32 ((d B32) (imm B16) (scc B1)) B32
  (ite (= scc #b1) ((_ sign_extend 16) imm) d))
(define-fun s_addk_i32 ((d B32) (imm B16)) B32
  (bvadd d ((_ sign_extend 16) imm)))
(define-fun s_addk_i32.scc ((d B32) (imm B16)) B1
  (bit (and (= (sign d) ((_ extract 15 15) imm)) (distinct (sign d) (sign (bvadd d ((_ sign_extend 16) imm)))))))
(define-fun s_mulk_i32 ((d B32) (imm B16)) B32
  (mul32 d ((_ sign_extend 16) imm)))
