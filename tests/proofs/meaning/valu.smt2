; Vector instructions on one lane. Sources: s0, s1, s2; the old destination: d; this lane's bit of the
; mask that is read (VCC or S2 of VOP3): vcc; the lane's number: lane. NAME is what the destination
; gets, NAME.mask this lane's bit of VCC or of the scalar destination, NAME.clamp the destination
; with CLAMP, NAME.s0 what is written to the source, NAME.pre what the manual requires of operands.
; Results of 16 bits are placed in the register by the form (forms.smt2).

; ---- saturation of exact results (signed, of more bits)
(define-fun sat_u32 ((x B64)) B32
  (ite (bvslt x #x0000000000000000) #x00000000 (ite (bvsgt x #x00000000ffffffff) #xffffffff (low x))))
(define-fun sat_i32 ((x B64)) B32
  (ite (bvslt x #xffffffff80000000) #x80000000 (ite (bvsgt x #x000000007fffffff) #x7fffffff (low x))))
(define-fun sat_u16 ((x B64)) B16
  (ite (bvslt x #x0000000000000000) #x0000 (ite (bvsgt x #x000000000000ffff) #xffff (lo16 (low x)))))
(define-fun sat_i16 ((x B64)) B16
  (ite (bvslt x #xffffffffffff8000) #x8000 (ite (bvsgt x #x0000000000007fff) #x7fff (lo16 (low x)))))
(define-fun u16w ((x B16)) B64 ((_ zero_extend 48) x))
(define-fun i16w ((x B16)) B64 ((_ sign_extend 48) x))
(define-fun u24 ((x B32)) B32 ((_ zero_extend 8) ((_ extract 23 0) x)))
(define-fun i24 ((x B32)) B32 ((_ sign_extend 8) ((_ extract 23 0) x)))

; ---- moves, logic, bits
(define-fun v_mov_b32 ((s0 B32)) B32
  s0)
(define-fun v_mov_b64 ((s0 B64)) B64
  s0)
(define-fun v_not_b32 ((s0 B32)) B32
  (bvnot s0))
(define-fun v_swap_b32 ((s0 B32) (d B32)) B32
  s0)
(define-fun v_swap_b32.s0 ((s0 B32) (d B32)) B32
  d)
(define-fun v_cndmask_b32 ((s0 B32) (s1 B32) (vcc B1)) B32
  (ite (= vcc #b1) s1 s0))
(define-fun v_and_b32 ((s0 B32) (s1 B32)) B32
  (bvand s0 s1))
(define-fun v_or_b32 ((s0 B32) (s1 B32)) B32
  (bvor s0 s1))
(define-fun v_xor_b32 ((s0 B32) (s1 B32)) B32
  (bvxor s0 s1))
(define-fun v_xnor_b32 ((s0 B32) (s1 B32)) B32
  (bvnot (bvxor s0 s1)))
(define-fun v_or3_b32 ((s0 B32) (s1 B32) (s2 B32)) B32
  (bvor s0 s1 s2))
(define-fun v_and_or_b32 ((s0 B32) (s1 B32) (s2 B32)) B32
  (bvor (bvand s0 s1) s2))
(define-fun v_bfi_b32 ((s0 B32) (s1 B32) (s2 B32)) B32
  (bvor (bvand s0 s1) (bvand (bvnot s0) s2)))
(define-fun v_bfm_b32 ((s0 B32) (s1 B32)) B32
  (bvshl (bvsub (bvshl #x00000001 (amount5 s0)) #x00000001) (amount5 s1)))
(define-fun v_bfrev_b32 ((s0 B32)) B32
  (reverse32 s0))
(define-fun v_ffbh_u32 ((s0 B32)) B32
  (ite (= s0 #x00000000) #xffffffff (first32 (reverse32 s0))))
(define-fun v_ffbl_b32 ((s0 B32)) B32
  (ite (= s0 #x00000000) #xffffffff (first32 s0)))
(define-fun v_ffbh_i32 ((s0 B32)) B32
  (ite (= (bvxor s0 (bvashr s0 #x0000001f)) #x00000000) #xffffffff (first32 (reverse32 (bvxor s0 (bvashr s0 #x0000001f))))))
(define-fun v_bcnt_u32_b32 ((s0 B32) (s1 B32)) B32
  (bvadd (ones32 s0) s1))
(define-fun v_mbcnt_lo_u32_b32 ((s0 B32) (s1 B32) (lane B32)) B32
  (bvadd (ones32 (bvand s0 (low (bvsub (bvshl #x0000000000000001 (uw64 lane)) #x0000000000000001)))) s1))
(define-fun v_mbcnt_hi_u32_b32 ((s0 B32) (s1 B32) (lane B32)) B32
  (bvadd (ones32 (bvand s0 (high (bvsub (bvshl #x0000000000000001 (uw64 lane)) #x0000000000000001)))) s1))

; Bits of s0 from S1[4:0] on, S2[4:0] of them; the sign is the highest bit that is in the operand.
(define-fun v_bfe_shifted ((s0 B32) (s1 B32)) B32 (bvlshr s0 (amount5 s1)))
(define-fun v_bfe_u32 ((s0 B32) (s1 B32) (s2 B32)) B32
  (bvand (v_bfe_shifted s0 s1) (bvsub (bvshl #x00000001 (amount5 s2)) #x00000001)))
(define-fun v_bfe_i32 ((s0 B32) (s1 B32) (s2 B32)) B32
  (ite (= (amount5 s2) #x00000000) #x00000000
    (bvashr (bvshl (bvashr s0 (amount5 s1)) (bvsub #x00000020 (amount5 s2))) (bvsub #x00000020 (amount5 s2)))))
(define-fun v_alignbit_b32 ((s0 B32) (s1 B32) (s2 B32)) B32
  (low (bvlshr (concat s0 s1) (uw64 (bvand s2 #x0000001f)))))
(define-fun v_alignbyte_b32 ((s0 B32) (s1 B32) (s2 B32)) B32
  (low (bvlshr (concat s0 s1) (uw64 (bvmul #x00000008 (bvand s2 #x00000003))))))

; One byte of {s0, s1} by a selector.
(define-fun permuted ((s0 B32) (s1 B32) (sel B8)) B8
  (ite (bvuge sel #x0d) #xff
  (ite (= sel #x0c) #x00
  (ite (= sel #x0b) ((_ sign_extend 7) ((_ extract 31 31) s0))
  (ite (= sel #x0a) ((_ sign_extend 7) ((_ extract 15 15) s0))
  (ite (= sel #x09) ((_ sign_extend 7) ((_ extract 31 31) s1))
  (ite (= sel #x08) ((_ sign_extend 7) ((_ extract 15 15) s1))
  ((_ extract 7 0) (bvlshr (concat s0 s1) ((_ zero_extend 56) (bvshl sel #x03)))))))))))
(define-fun v_perm_b32 ((s0 B32) (s1 B32) (s2 B32)) B32
  (concat (permuted s0 s1 (byte3 s2)) (permuted s0 s1 (byte2 s2)) (permuted s0 s1 (byte1 s2)) (permuted s0 s1 (byte0 s2))))

; ---- shifts
(define-fun v_lshlrev_b32 ((s0 B32) (s1 B32)) B32
  (bvshl s1 (amount5 s0)))
(define-fun v_lshl_b32 ((s0 B32) (s1 B32)) B32
  (bvshl s0 (amount5 s1)))
(define-fun v_lshlrev_b64 ((s0 B32) (s1 B64)) B64
  (bvshl s1 (amount6 s0)))
(define-fun v_lshl_b64 ((s0 B64) (s1 B32)) B64
  (bvshl s0 (amount6 s1)))
(define-fun v_lshlrev_b16 ((s0 B16) (s1 B16)) B16
  (bvshl s1 (amount4 s0)))
(define-fun v_lshrrev_b32 ((s0 B32) (s1 B32)) B32
  (bvlshr s1 (amount5 s0)))
(define-fun v_lshr_b32 ((s0 B32) (s1 B32)) B32
  (bvlshr s0 (amount5 s1)))
(define-fun v_lshrrev_b64 ((s0 B32) (s1 B64)) B64
  (bvlshr s1 (amount6 s0)))
(define-fun v_lshr_b64 ((s0 B64) (s1 B32)) B64
  (bvlshr s0 (amount6 s1)))
(define-fun v_lshrrev_b16 ((s0 B16) (s1 B16)) B16
  (bvlshr s1 (amount4 s0)))
(define-fun v_ashrrev_i32 ((s0 B32) (s1 B32)) B32
  (bvashr s1 (amount5 s0)))
(define-fun v_ashr_i32 ((s0 B32) (s1 B32)) B32
  (bvashr s0 (amount5 s1)))
(define-fun v_ashrrev_i64 ((s0 B32) (s1 B64)) B64
  (bvashr s1 (amount6 s0)))
(define-fun v_ashr_i64 ((s0 B64) (s1 B32)) B64
  (bvashr s0 (amount6 s1)))
(define-fun v_ashrrev_i16 ((s0 B16) (s1 B16)) B16
  (bvashr s1 (amount4 s0)))
(define-fun v_lshl_add_u32 ((s0 B32) (s1 B32) (s2 B32)) B32
  (bvadd (bvshl s0 (amount5 s1)) s2))
(define-fun v_add_lshl_u32 ((s0 B32) (s1 B32) (s2 B32)) B32
  (bvshl (bvadd s0 s1) (amount5 s2)))
(define-fun v_lshl_or_b32 ((s0 B32) (s1 B32) (s2 B32)) B32
  (bvor (bvshl s0 (amount5 s1)) s2))
(define-fun v_lshl_add_u64 ((s0 B64) (s1 B32) (s2 B64)) B64
  (bvadd (bvshl s0 (uw64 (bvand s1 #x00000007))) s2))
(define-fun v_lshl_add_u64.pre ((s0 B64) (s1 B32) (s2 B64)) B1
  (bit (bvule s1 #x00000004)))

; ---- sums
(define-fun v_add_u32 ((s0 B32) (s1 B32)) B32
  (bvadd s0 s1))
(define-fun v_add_u32.clamp ((s0 B32) (s1 B32)) B32
  (sat_u32 (bvadd (uw64 s0) (uw64 s1))))
(define-fun v_sub_u32 ((s0 B32) (s1 B32)) B32
  (bvsub s0 s1))
(define-fun v_sub_u32.clamp ((s0 B32) (s1 B32)) B32
  (sat_u32 (bvsub (uw64 s0) (uw64 s1))))
(define-fun v_subrev_u32 ((s0 B32) (s1 B32)) B32
  (bvsub s1 s0))
(define-fun v_subrev_u32.clamp ((s0 B32) (s1 B32)) B32
  (sat_u32 (bvsub (uw64 s1) (uw64 s0))))
(define-fun v_add_i32 ((s0 B32) (s1 B32)) B32
  (bvadd s0 s1))
(define-fun v_add_i32.clamp ((s0 B32) (s1 B32)) B32
  (sat_i32 (bvadd (sw64 s0) (sw64 s1))))
(define-fun v_sub_i32 ((s0 B32) (s1 B32)) B32
  (bvsub s0 s1))
(define-fun v_sub_i32.clamp ((s0 B32) (s1 B32)) B32
  (sat_i32 (bvsub (sw64 s0) (sw64 s1))))
(define-fun v_add_co_u32 ((s0 B32) (s1 B32)) B32
  (bvadd s0 s1))
(define-fun v_add_co_u32.mask ((s0 B32) (s1 B32)) B1
  (carry33 (bvadd (w33 s0) (w33 s1))))
(define-fun v_add_co_u32.clamp ((s0 B32) (s1 B32)) B32
  (sat_u32 (bvadd (uw64 s0) (uw64 s1))))
(define-fun v_sub_co_u32 ((s0 B32) (s1 B32)) B32
  (bvsub s0 s1))
(define-fun v_sub_co_u32.mask ((s0 B32) (s1 B32)) B1
  (bit (bvugt s1 s0)))
(define-fun v_sub_co_u32.clamp ((s0 B32) (s1 B32)) B32
  (sat_u32 (bvsub (uw64 s0) (uw64 s1))))
(define-fun v_subrev_co_u32 ((s0 B32) (s1 B32)) B32
  (bvsub s1 s0))
(define-fun v_subrev_co_u32.mask ((s0 B32) (s1 B32)) B1
  (bit (bvugt s0 s1)))
(define-fun v_subrev_co_u32.clamp ((s0 B32) (s1 B32)) B32
  (sat_u32 (bvsub (uw64 s1) (uw64 s0))))
(define-fun plus_bit ((x B64) (vcc B1)) B64 (bvadd x ((_ zero_extend 63) vcc)))
(define-fun minus_bit ((x B64) (vcc B1)) B64 (bvsub x ((_ zero_extend 63) vcc)))
(define-fun v_addc_co_u32 ((s0 B32) (s1 B32) (vcc B1)) B32
  (bvadd s0 s1 ((_ zero_extend 31) vcc)))
(define-fun v_addc_co_u32.mask ((s0 B32) (s1 B32) (vcc B1)) B1
  (bit (bvuge (plus_bit (bvadd (uw64 s0) (uw64 s1)) vcc) #x0000000100000000)))
(define-fun v_addc_co_u32.clamp ((s0 B32) (s1 B32) (vcc B1)) B32
  (sat_u32 (plus_bit (bvadd (uw64 s0) (uw64 s1)) vcc)))
(define-fun v_subb_co_u32 ((s0 B32) (s1 B32) (vcc B1)) B32
  (bvsub (bvsub s0 s1) ((_ zero_extend 31) vcc)))
(define-fun v_subb_co_u32.mask ((s0 B32) (s1 B32) (vcc B1)) B1
  (bit (bvugt (plus_bit (uw64 s1) vcc) (uw64 s0))))
(define-fun v_subb_co_u32.clamp ((s0 B32) (s1 B32) (vcc B1)) B32
  (sat_u32 (minus_bit (bvsub (uw64 s0) (uw64 s1)) vcc)))
(define-fun v_subbrev_co_u32 ((s0 B32) (s1 B32) (vcc B1)) B32
  (bvsub (bvsub s1 s0) ((_ zero_extend 31) vcc)))
(define-fun v_subbrev_co_u32.mask ((s0 B32) (s1 B32) (vcc B1)) B1
  (bit (bvugt (plus_bit (uw64 s0) vcc) (uw64 s1))))
(define-fun v_subbrev_co_u32.clamp ((s0 B32) (s1 B32) (vcc B1)) B32
  (sat_u32 (minus_bit (bvsub (uw64 s1) (uw64 s0)) vcc)))
(define-fun v_add3_u32 ((s0 B32) (s1 B32) (s2 B32)) B32
  (bvadd s0 s1 s2))
(define-fun v_xad_u32 ((s0 B32) (s1 B32) (s2 B32)) B32
  (bvadd (bvxor s0 s1) s2))
(define-fun v_add_u16 ((s0 B16) (s1 B16)) B16
  (bvadd s0 s1))
(define-fun v_add_u16.clamp ((s0 B16) (s1 B16)) B16
  (sat_u16 (bvadd (u16w s0) (u16w s1))))
(define-fun v_sub_u16 ((s0 B16) (s1 B16)) B16
  (bvsub s0 s1))
(define-fun v_sub_u16.clamp ((s0 B16) (s1 B16)) B16
  (sat_u16 (bvsub (u16w s0) (u16w s1))))
(define-fun v_subrev_u16 ((s0 B16) (s1 B16)) B16
  (bvsub s1 s0))
(define-fun v_subrev_u16.clamp ((s0 B16) (s1 B16)) B16
  (sat_u16 (bvsub (u16w s1) (u16w s0))))
(define-fun v_add_i16 ((s0 B16) (s1 B16)) B16
  (bvadd s0 s1))
(define-fun v_add_i16.clamp ((s0 B16) (s1 B16)) B16
  (sat_i16 (bvadd (i16w s0) (i16w s1))))
(define-fun v_sub_i16 ((s0 B16) (s1 B16)) B16
  (bvsub s0 s1))
(define-fun v_sub_i16.clamp ((s0 B16) (s1 B16)) B16
  (sat_i16 (bvsub (i16w s0) (i16w s1))))

; ---- products. Products of 16 bits plus 16 bits are exact in 32 bits.
(define-fun v_mul_lo_u32 ((s0 B32) (s1 B32)) B32
  (mul32 s0 s1))
(define-fun v_mul_lo_i32 ((s0 B32) (s1 B32)) B32
  (mul32 s0 s1))
(define-fun v_mul_hi_u32 ((s0 B32) (s1 B32)) B32
  (high (umul64 s0 s1)))
(define-fun v_mul_hi_i32 ((s0 B32) (s1 B32)) B32
  (high (smul64 s0 s1)))
(define-fun v_mul_lo_u16 ((s0 B16) (s1 B16)) B16
  (bvmul s0 s1))
(define-fun v_mul_u32_u24 ((s0 B32) (s1 B32)) B32
  (mul32 (u24 s0) (u24 s1)))
(define-fun v_mul_i32_i24 ((s0 B32) (s1 B32)) B32
  (mul32 (i24 s0) (i24 s1)))
(define-fun v_mul_hi_u32_u24 ((s0 B32) (s1 B32)) B32
  (high (umul64 (u24 s0) (u24 s1))))
(define-fun v_mul_hi_i32_i24 ((s0 B32) (s1 B32)) B32
  (high (smul64 (i24 s0) (i24 s1))))
(define-fun v_mad_u32_u24 ((s0 B32) (s1 B32) (s2 B32)) B32
  (bvadd (mul32 (u24 s0) (u24 s1)) s2))
(define-fun v_mad_u32_u24.clamp ((s0 B32) (s1 B32) (s2 B32)) B32
  (sat_u32 (bvadd (umul64 (u24 s0) (u24 s1)) (uw64 s2))))
(define-fun v_mad_i32_i24 ((s0 B32) (s1 B32) (s2 B32)) B32
  (bvadd (mul32 (i24 s0) (i24 s1)) s2))
(define-fun v_mad_i32_i24.clamp ((s0 B32) (s1 B32) (s2 B32)) B32
  (sat_i32 (bvadd (smul64 (i24 s0) (i24 s1)) (sw64 s2))))
(define-fun mad_u65 ((s0 B32) (s1 B32) (s2 B64)) B65
  (bvadd ((_ zero_extend 1) (umul64 s0 s1)) ((_ zero_extend 1) s2)))
(define-fun mad_i65 ((s0 B32) (s1 B32) (s2 B64)) B65
  (bvadd ((_ sign_extend 1) (smul64 s0 s1)) ((_ sign_extend 1) s2)))
(define-fun v_mad_u64_u32 ((s0 B32) (s1 B32) (s2 B64)) B64
  ((_ extract 63 0) (mad_u65 s0 s1 s2)))
(define-fun v_mad_u64_u32.mask ((s0 B32) (s1 B32) (s2 B64)) B1
  ((_ extract 64 64) (mad_u65 s0 s1 s2)))
(define-fun v_mad_u64_u32.clamp ((s0 B32) (s1 B32) (s2 B64)) B64
  (ite (= ((_ extract 64 64) (mad_u65 s0 s1 s2)) #b1) #xffffffffffffffff ((_ extract 63 0) (mad_u65 s0 s1 s2))))
(define-fun v_mad_i64_i32 ((s0 B32) (s1 B32) (s2 B64)) B64
  ((_ extract 63 0) (mad_i65 s0 s1 s2)))
(define-fun v_mad_i64_i32.mask ((s0 B32) (s1 B32) (s2 B64)) B1
  ((_ extract 64 64) (mad_i65 s0 s1 s2)))
(define-fun v_mad_i64_i32.clamp ((s0 B32) (s1 B32) (s2 B64)) B64
  (ite (= ((_ extract 64 64) (mad_i65 s0 s1 s2)) ((_ extract 63 63) (mad_i65 s0 s1 s2))) ((_ extract 63 0) (mad_i65 s0 s1 s2))
    (ite (= ((_ extract 64 64) (mad_i65 s0 s1 s2)) #b1) #x8000000000000000 #x7fffffffffffffff)))
(define-fun v_mad_u16 ((s0 B16) (s1 B16) (s2 B16)) B16
  (bvadd (bvmul s0 s1) s2))
(define-fun v_mad_u16.clamp ((s0 B16) (s1 B16) (s2 B16)) B16
  (sat_u16 (uw64 (bvadd (mul32 (zx32 s0) (zx32 s1)) (zx32 s2)))))
(define-fun v_mad_i16 ((s0 B16) (s1 B16) (s2 B16)) B16
  (bvadd (bvmul s0 s1) s2))
(define-fun v_mad_i16.clamp ((s0 B16) (s1 B16) (s2 B16)) B16
  (sat_i16 (sw64 (bvadd (mul32 (sx32 s0) (sx32 s1)) (sx32 s2)))))
(define-fun v_mad_legacy_u16 ((s0 B16) (s1 B16) (s2 B16)) B16
  (bvadd (bvmul s0 s1) s2))
(define-fun v_mad_legacy_u16.clamp ((s0 B16) (s1 B16) (s2 B16)) B16
  (sat_u16 (uw64 (bvadd (mul32 (zx32 s0) (zx32 s1)) (zx32 s2)))))
(define-fun v_mad_legacy_i16 ((s0 B16) (s1 B16) (s2 B16)) B16
  (bvadd (bvmul s0 s1) s2))
(define-fun v_mad_legacy_i16.clamp ((s0 B16) (s1 B16) (s2 B16)) B16
  (sat_i16 (sw64 (bvadd (mul32 (sx32 s0) (sx32 s1)) (sx32 s2)))))
(define-fun v_mad_u32_u16 ((s0 B16) (s1 B16) (s2 B32)) B32
  (bvadd (mul32 (zx32 s0) (zx32 s1)) s2))
(define-fun v_mad_u32_u16.clamp ((s0 B16) (s1 B16) (s2 B32)) B32
  (sat_u32 (bvadd (uw64 (mul32 (zx32 s0) (zx32 s1))) (uw64 s2))))
(define-fun v_mad_i32_i16 ((s0 B16) (s1 B16) (s2 B32)) B32
  (bvadd (mul32 (sx32 s0) (sx32 s1)) s2))
(define-fun v_mad_i32_i16.clamp ((s0 B16) (s1 B16) (s2 B32)) B32
  (sat_i32 (bvadd (sw64 (mul32 (sx32 s0) (sx32 s1))) (sw64 s2))))

; ---- minimum, maximum, median
(define-fun v_min_i32 ((s0 B32) (s1 B32)) B32
  (ite (bvslt s0 s1) s0 s1))
(define-fun v_max_i32 ((s0 B32) (s1 B32)) B32
  (ite (bvsge s0 s1) s0 s1))
(define-fun v_min3_i32 ((s0 B32) (s1 B32) (s2 B32)) B32
  (v_min_i32 (v_min_i32 s0 s1) s2))
(define-fun v_max3_i32 ((s0 B32) (s1 B32) (s2 B32)) B32
  (v_max_i32 (v_max_i32 s0 s1) s2))
(define-fun v_med3_i32 ((s0 B32) (s1 B32) (s2 B32)) B32
  (ite (= (v_max3_i32 s0 s1 s2) s0) (v_max_i32 s1 s2)
    (ite (= (v_max3_i32 s0 s1 s2) s1) (v_max_i32 s0 s2) (v_max_i32 s0 s1))))
(define-fun v_min_u32 ((s0 B32) (s1 B32)) B32
  (ite (bvult s0 s1) s0 s1))
(define-fun v_max_u32 ((s0 B32) (s1 B32)) B32
  (ite (bvuge s0 s1) s0 s1))
(define-fun v_min3_u32 ((s0 B32) (s1 B32) (s2 B32)) B32
  (v_min_u32 (v_min_u32 s0 s1) s2))
(define-fun v_max3_u32 ((s0 B32) (s1 B32) (s2 B32)) B32
  (v_max_u32 (v_max_u32 s0 s1) s2))
(define-fun v_med3_u32 ((s0 B32) (s1 B32) (s2 B32)) B32
  (ite (= (v_max3_u32 s0 s1 s2) s0) (v_max_u32 s1 s2)
    (ite (= (v_max3_u32 s0 s1 s2) s1) (v_max_u32 s0 s2) (v_max_u32 s0 s1))))
(define-fun v_min_i16 ((s0 B16) (s1 B16)) B16
  (ite (bvslt s0 s1) s0 s1))
(define-fun v_max_i16 ((s0 B16) (s1 B16)) B16
  (ite (bvsge s0 s1) s0 s1))
(define-fun v_min3_i16 ((s0 B16) (s1 B16) (s2 B16)) B16
  (v_min_i16 (v_min_i16 s0 s1) s2))
(define-fun v_max3_i16 ((s0 B16) (s1 B16) (s2 B16)) B16
  (v_max_i16 (v_max_i16 s0 s1) s2))
(define-fun v_med3_i16 ((s0 B16) (s1 B16) (s2 B16)) B16
  (ite (= (v_max3_i16 s0 s1 s2) s0) (v_max_i16 s1 s2)
    (ite (= (v_max3_i16 s0 s1 s2) s1) (v_max_i16 s0 s2) (v_max_i16 s0 s1))))
(define-fun v_min_u16 ((s0 B16) (s1 B16)) B16
  (ite (bvult s0 s1) s0 s1))
(define-fun v_max_u16 ((s0 B16) (s1 B16)) B16
  (ite (bvuge s0 s1) s0 s1))
(define-fun v_min3_u16 ((s0 B16) (s1 B16) (s2 B16)) B16
  (v_min_u16 (v_min_u16 s0 s1) s2))
(define-fun v_max3_u16 ((s0 B16) (s1 B16) (s2 B16)) B16
  (v_max_u16 (v_max_u16 s0 s1) s2))
(define-fun v_med3_u16 ((s0 B16) (s1 B16) (s2 B16)) B16
  (ite (= (v_max3_u16 s0 s1 s2) s0) (v_max_u16 s1 s2)
    (ite (= (v_max3_u16 s0 s1 s2) s1) (v_max_u16 s0 s2) (v_max_u16 s0 s1))))

; ---- bytes and sums of absolute differences
(define-fun lerp8 ((x B8) (y B8) (r B1)) B8
  ((_ extract 8 1) (bvadd (concat #b0 x) (concat #b0 y) (concat #x00 r))))
(define-fun absdiff8 ((x B8) (y B8)) B32 ((_ zero_extend 24) (ite (bvugt x y) (bvsub x y) (bvsub y x))))
(define-fun absdiff16 ((x B16) (y B16)) B32 (zx32 (ite (bvugt x y) (bvsub x y) (bvsub y x))))
(define-fun absdiff32 ((x B32) (y B32)) B32 (ite (bvugt x y) (bvsub x y) (bvsub y x)))
(define-fun masked8 ((x B8) (y B8)) B32 (ite (= y #x00) #x00000000 (absdiff8 x y)))
(define-fun sad8 ((x B32) (y B32)) B32
  (bvadd (absdiff8 (byte3 x) (byte3 y)) (absdiff8 (byte2 x) (byte2 y)) (absdiff8 (byte1 x) (byte1 y)) (absdiff8 (byte0 x) (byte0 y))))
(define-fun msad8 ((x B32) (y B32)) B32
  (bvadd (masked8 (byte3 x) (byte3 y)) (masked8 (byte2 x) (byte2 y)) (masked8 (byte1 x) (byte1 y)) (masked8 (byte0 x) (byte0 y))))
(define-fun sad16 ((x B32) (y B32)) B32 (bvadd (absdiff16 (hi16 x) (hi16 y)) (absdiff16 (lo16 x) (lo16 y))))
(define-fun window0 ((x B64)) B32 ((_ extract 31 0) x))
(define-fun window1 ((x B64)) B32 ((_ extract 39 8) x))
(define-fun window2 ((x B64)) B32 ((_ extract 47 16) x))
(define-fun window3 ((x B64)) B32 ((_ extract 55 24) x))
(define-fun v_lerp_u8 ((s0 B32) (s1 B32) (s2 B32)) B32
  (concat (lerp8 (byte3 s0) (byte3 s1) ((_ extract 24 24) s2)) (lerp8 (byte2 s0) (byte2 s1) ((_ extract 16 16) s2)) (lerp8 (byte1 s0) (byte1 s1) ((_ extract 8 8) s2)) (lerp8 (byte0 s0) (byte0 s1) ((_ extract 0 0) s2))))
(define-fun v_sad_u8 ((s0 B32) (s1 B32) (s2 B32)) B32
  (bvadd (sad8 s0 s1) s2))
(define-fun v_sad_u8.clamp ((s0 B32) (s1 B32) (s2 B32)) B32
  (sat_u32 (bvadd (uw64 (sad8 s0 s1)) (uw64 s2))))
(define-fun v_msad_u8 ((s0 B32) (s1 B32) (s2 B32)) B32
  (bvadd (msad8 s0 s1) s2))
(define-fun v_msad_u8.clamp ((s0 B32) (s1 B32) (s2 B32)) B32
  (sat_u32 (bvadd (uw64 (msad8 s0 s1)) (uw64 s2))))
(define-fun v_sad_u16 ((s0 B32) (s1 B32) (s2 B32)) B32
  (bvadd (sad16 s0 s1) s2))
(define-fun v_sad_u16.clamp ((s0 B32) (s1 B32) (s2 B32)) B32
  (sat_u32 (bvadd (uw64 (sad16 s0 s1)) (uw64 s2))))
(define-fun v_sad_u32 ((s0 B32) (s1 B32) (s2 B32)) B32
  (bvadd (absdiff32 s0 s1) s2))
(define-fun v_sad_u32.clamp ((s0 B32) (s1 B32) (s2 B32)) B32
  (sat_u32 (bvadd (uw64 (absdiff32 s0 s1)) (uw64 s2))))
(define-fun v_sad_hi_u8 ((s0 B32) (s1 B32) (s2 B32)) B32
  (bvadd (bvshl (sad8 s0 s1) #x00000010) s2))
(define-fun v_sad_hi_u8.clamp ((s0 B32) (s1 B32) (s2 B32)) B32
  (sat_u32 (bvadd (uw64 (bvshl (sad8 s0 s1) #x00000010)) (uw64 s2))))
(define-fun v_qsad_pk_u16_u8 ((s0 B64) (s1 B32) (s2 B64)) B64
  (concat (lo16 (bvadd (sad8 (window3 s0) s1) (zx32 ((_ extract 63 48) s2)))) (lo16 (bvadd (sad8 (window2 s0) s1) (zx32 ((_ extract 47 32) s2)))) (lo16 (bvadd (sad8 (window1 s0) s1) (zx32 ((_ extract 31 16) s2)))) (lo16 (bvadd (sad8 (window0 s0) s1) (zx32 ((_ extract 15 0) s2))))))
(define-fun v_qsad_pk_u16_u8.clamp ((s0 B64) (s1 B32) (s2 B64)) B64
  (concat (sat_u16 (uw64 (bvadd (sad8 (window3 s0) s1) (zx32 ((_ extract 63 48) s2))))) (sat_u16 (uw64 (bvadd (sad8 (window2 s0) s1) (zx32 ((_ extract 47 32) s2))))) (sat_u16 (uw64 (bvadd (sad8 (window1 s0) s1) (zx32 ((_ extract 31 16) s2))))) (sat_u16 (uw64 (bvadd (sad8 (window0 s0) s1) (zx32 ((_ extract 15 0) s2)))))))
(define-fun v_mqsad_pk_u16_u8 ((s0 B64) (s1 B32) (s2 B64)) B64
  (concat (lo16 (bvadd (msad8 (window3 s0) s1) (zx32 ((_ extract 63 48) s2)))) (lo16 (bvadd (msad8 (window2 s0) s1) (zx32 ((_ extract 47 32) s2)))) (lo16 (bvadd (msad8 (window1 s0) s1) (zx32 ((_ extract 31 16) s2)))) (lo16 (bvadd (msad8 (window0 s0) s1) (zx32 ((_ extract 15 0) s2))))))
(define-fun v_mqsad_pk_u16_u8.clamp ((s0 B64) (s1 B32) (s2 B64)) B64
  (concat (sat_u16 (uw64 (bvadd (msad8 (window3 s0) s1) (zx32 ((_ extract 63 48) s2))))) (sat_u16 (uw64 (bvadd (msad8 (window2 s0) s1) (zx32 ((_ extract 47 32) s2))))) (sat_u16 (uw64 (bvadd (msad8 (window1 s0) s1) (zx32 ((_ extract 31 16) s2))))) (sat_u16 (uw64 (bvadd (msad8 (window0 s0) s1) (zx32 ((_ extract 15 0) s2)))))))
(define-fun v_mqsad_u32_u8 ((s0 B64) (s1 B32) (s2 B128)) B128
  (concat (bvadd (msad8 (window3 s0) s1) ((_ extract 127 96) s2)) (bvadd (msad8 (window2 s0) s1) ((_ extract 95 64) s2)) (bvadd (msad8 (window1 s0) s1) ((_ extract 63 32) s2)) (bvadd (msad8 (window0 s0) s1) ((_ extract 31 0) s2))))
(define-fun v_mqsad_u32_u8.clamp ((s0 B64) (s1 B32) (s2 B128)) B128
  (concat (sat_u32 (bvadd (uw64 (msad8 (window3 s0) s1)) (uw64 ((_ extract 127 96) s2)))) (sat_u32 (bvadd (uw64 (msad8 (window2 s0) s1)) (uw64 ((_ extract 95 64) s2)))) (sat_u32 (bvadd (uw64 (msad8 (window1 s0) s1)) (uw64 ((_ extract 63 32) s2)))) (sat_u32 (bvadd (uw64 (msad8 (window0 s0) s1)) (uw64 ((_ extract 31 0) s2))))))

; ---- conversions between integers
(define-fun v_cvt_pk_u16_u32 ((s0 B32) (s1 B32)) B32
  (concat (sat_u16 (uw64 s1)) (sat_u16 (uw64 s0))))
(define-fun v_cvt_pk_i16_i32 ((s0 B32) (s1 B32)) B32
  (concat (sat_i16 (sw64 s1)) (sat_i16 (sw64 s0))))
(define-fun sat8 ((x B16)) B8 (ite (bvsle x #x0000) #x00 (ite (bvsge x #x00ff) #xff ((_ extract 7 0) x))))
(define-fun v_sat_pk_u8_i16 ((s0 B32)) B32
  (concat #x0000 (sat8 (hi16 s0)) (sat8 (lo16 s0))))
