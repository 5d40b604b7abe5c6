; Packed integer instructions (VOP3P) and integer dot products. Packed sources have their halves as
; OP_SEL and OP_SEL_HI choose them (forms.smt2).

(define-fun half_add_u16 ((s0 B16) (s1 B16)) B16
  (bvadd s0 s1))
(define-fun v_pk_add_u16 ((s0 B32) (s1 B32)) B32
  (concat (half_add_u16 (hi16 s0) (hi16 s1)) (half_add_u16 (lo16 s0) (lo16 s1))))
(define-fun half_add_u16.clamp ((s0 B16) (s1 B16)) B16
  (sat_u16 (bvadd (u16w s0) (u16w s1))))
(define-fun v_pk_add_u16.clamp ((s0 B32) (s1 B32)) B32
  (concat (half_add_u16.clamp (hi16 s0) (hi16 s1)) (half_add_u16.clamp (lo16 s0) (lo16 s1))))
(define-fun half_sub_u16 ((s0 B16) (s1 B16)) B16
  (bvsub s0 s1))
(define-fun v_pk_sub_u16 ((s0 B32) (s1 B32)) B32
  (concat (half_sub_u16 (hi16 s0) (hi16 s1)) (half_sub_u16 (lo16 s0) (lo16 s1))))
(define-fun half_sub_u16.clamp ((s0 B16) (s1 B16)) B16
  (sat_u16 (bvsub (u16w s0) (u16w s1))))
(define-fun v_pk_sub_u16.clamp ((s0 B32) (s1 B32)) B32
  (concat (half_sub_u16.clamp (hi16 s0) (hi16 s1)) (half_sub_u16.clamp (lo16 s0) (lo16 s1))))
(define-fun half_mad_u16 ((s0 B16) (s1 B16) (s2 B16)) B16
  (bvadd (bvmul s0 s1) s2))
(define-fun v_pk_mad_u16 ((s0 B32) (s1 B32) (s2 B32)) B32
  (concat (half_mad_u16 (hi16 s0) (hi16 s1) (hi16 s2)) (half_mad_u16 (lo16 s0) (lo16 s1) (lo16 s2))))
(define-fun half_mad_u16.clamp ((s0 B16) (s1 B16) (s2 B16)) B16
  (sat_u16 (uw64 (bvadd (mul32 (zx32 s0) (zx32 s1)) (zx32 s2)))))
(define-fun v_pk_mad_u16.clamp ((s0 B32) (s1 B32) (s2 B32)) B32
  (concat (half_mad_u16.clamp (hi16 s0) (hi16 s1) (hi16 s2)) (half_mad_u16.clamp (lo16 s0) (lo16 s1) (lo16 s2))))
(define-fun half_min_u16 ((s0 B16) (s1 B16)) B16
  (ite (bvult s0 s1) s0 s1))
(define-fun v_pk_min_u16 ((s0 B32) (s1 B32)) B32
  (concat (half_min_u16 (hi16 s0) (hi16 s1)) (half_min_u16 (lo16 s0) (lo16 s1))))
(define-fun half_max_u16 ((s0 B16) (s1 B16)) B16
  (ite (bvuge s0 s1) s0 s1))
(define-fun v_pk_max_u16 ((s0 B32) (s1 B32)) B32
  (concat (half_max_u16 (hi16 s0) (hi16 s1)) (half_max_u16 (lo16 s0) (lo16 s1))))
(define-fun half_add_i16 ((s0 B16) (s1 B16)) B16
  (bvadd s0 s1))
(define-fun v_pk_add_i16 ((s0 B32) (s1 B32)) B32
  (concat (half_add_i16 (hi16 s0) (hi16 s1)) (half_add_i16 (lo16 s0) (lo16 s1))))
(define-fun half_add_i16.clamp ((s0 B16) (s1 B16)) B16
  (sat_i16 (bvadd (i16w s0) (i16w s1))))
(define-fun v_pk_add_i16.clamp ((s0 B32) (s1 B32)) B32
  (concat (half_add_i16.clamp (hi16 s0) (hi16 s1)) (half_add_i16.clamp (lo16 s0) (lo16 s1))))
(define-fun half_sub_i16 ((s0 B16) (s1 B16)) B16
  (bvsub s0 s1))
(define-fun v_pk_sub_i16 ((s0 B32) (s1 B32)) B32
  (concat (half_sub_i16 (hi16 s0) (hi16 s1)) (half_sub_i16 (lo16 s0) (lo16 s1))))
(define-fun half_sub_i16.clamp ((s0 B16) (s1 B16)) B16
  (sat_i16 (bvsub (i16w s0) (i16w s1))))
(define-fun v_pk_sub_i16.clamp ((s0 B32) (s1 B32)) B32
  (concat (half_sub_i16.clamp (hi16 s0) (hi16 s1)) (half_sub_i16.clamp (lo16 s0) (lo16 s1))))
(define-fun half_mad_i16 ((s0 B16) (s1 B16) (s2 B16)) B16
  (bvadd (bvmul s0 s1) s2))
(define-fun v_pk_mad_i16 ((s0 B32) (s1 B32) (s2 B32)) B32
  (concat (half_mad_i16 (hi16 s0) (hi16 s1) (hi16 s2)) (half_mad_i16 (lo16 s0) (lo16 s1) (lo16 s2))))
(define-fun half_mad_i16.clamp ((s0 B16) (s1 B16) (s2 B16)) B16
  (sat_i16 (sw64 (bvadd (mul32 (sx32 s0) (sx32 s1)) (sx32 s2)))))
(define-fun v_pk_mad_i16.clamp ((s0 B32) (s1 B32) (s2 B32)) B32
  (concat (half_mad_i16.clamp (hi16 s0) (hi16 s1) (hi16 s2)) (half_mad_i16.clamp (lo16 s0) (lo16 s1) (lo16 s2))))
(define-fun half_min_i16 ((s0 B16) (s1 B16)) B16
  (ite (bvslt s0 s1) s0 s1))
(define-fun v_pk_min_i16 ((s0 B32) (s1 B32)) B32
  (concat (half_min_i16 (hi16 s0) (hi16 s1)) (half_min_i16 (lo16 s0) (lo16 s1))))
(define-fun half_max_i16 ((s0 B16) (s1 B16)) B16
  (ite (bvsge s0 s1) s0 s1))
(define-fun v_pk_max_i16 ((s0 B32) (s1 B32)) B32
  (concat (half_max_i16 (hi16 s0) (hi16 s1)) (half_max_i16 (lo16 s0) (lo16 s1))))
(define-fun half_mul_lo_u16 ((s0 B16) (s1 B16)) B16
  (bvmul s0 s1))
(define-fun v_pk_mul_lo_u16 ((s0 B32) (s1 B32)) B32
  (concat (half_mul_lo_u16 (hi16 s0) (hi16 s1)) (half_mul_lo_u16 (lo16 s0) (lo16 s1))))
(define-fun half_lshlrev_b16 ((s0 B16) (s1 B16)) B16
  (bvshl s1 (amount4 s0)))
(define-fun v_pk_lshlrev_b16 ((s0 B32) (s1 B32)) B32
  (concat (half_lshlrev_b16 (hi16 s0) (hi16 s1)) (half_lshlrev_b16 (lo16 s0) (lo16 s1))))
(define-fun half_lshrrev_b16 ((s0 B16) (s1 B16)) B16
  (bvlshr s1 (amount4 s0)))
(define-fun v_pk_lshrrev_b16 ((s0 B32) (s1 B32)) B32
  (concat (half_lshrrev_b16 (hi16 s0) (hi16 s1)) (half_lshrrev_b16 (lo16 s0) (lo16 s1))))
(define-fun half_ashrrev_i16 ((s0 B16) (s1 B16)) B16
  (bvashr s1 (amount4 s0)))
(define-fun v_pk_ashrrev_i16 ((s0 B32) (s1 B32)) B32
  (concat (half_ashrrev_i16 (hi16 s0) (hi16 s1)) (half_ashrrev_i16 (lo16 s0) (lo16 s1))))

; ---- dot products: exact sums of 64 bits, of which 32 are kept
(define-fun dot2_i ((s0 B32) (s1 B32)) B64
  (bvadd (sw64 (bvmul ((_ sign_extend 16) ((_ extract 15 0) s0)) ((_ sign_extend 16) ((_ extract 15 0) s1)))) (sw64 (bvmul ((_ sign_extend 16) ((_ extract 31 16) s0)) ((_ sign_extend 16) ((_ extract 31 16) s1))))))
(define-fun v_dot2_i32_i16 ((s0 B32) (s1 B32) (s2 B32)) B32
  (low (bvadd (dot2_i s0 s1) (sw64 s2))))
(define-fun v_dot2_i32_i16.clamp ((s0 B32) (s1 B32) (s2 B32)) B32
  (sat_i32 (bvadd (dot2_i s0 s1) (sw64 s2))))
(define-fun dot2_u ((s0 B32) (s1 B32)) B64
  (bvadd (uw64 (bvmul ((_ zero_extend 16) ((_ extract 15 0) s0)) ((_ zero_extend 16) ((_ extract 15 0) s1)))) (uw64 (bvmul ((_ zero_extend 16) ((_ extract 31 16) s0)) ((_ zero_extend 16) ((_ extract 31 16) s1))))))
(define-fun v_dot2_u32_u16 ((s0 B32) (s1 B32) (s2 B32)) B32
  (low (bvadd (dot2_u s0 s1) (uw64 s2))))
(define-fun v_dot2_u32_u16.clamp ((s0 B32) (s1 B32) (s2 B32)) B32
  (sat_u32 (bvadd (dot2_u s0 s1) (uw64 s2))))
(define-fun v_dot2c_i32_i16 ((s0 B32) (s1 B32) (d B32)) B32
  (low (bvadd (dot2_i s0 s1) (sw64 d))))
(define-fun v_dot2c_i32_i16.clamp ((s0 B32) (s1 B32) (d B32)) B32
  (sat_i32 (bvadd (dot2_i s0 s1) (sw64 d))))
(define-fun dot4_i ((s0 B32) (s1 B32)) B64
  (bvadd (sw64 (bvmul ((_ sign_extend 24) ((_ extract 7 0) s0)) ((_ sign_extend 24) ((_ extract 7 0) s1)))) (sw64 (bvmul ((_ sign_extend 24) ((_ extract 15 8) s0)) ((_ sign_extend 24) ((_ extract 15 8) s1)))) (sw64 (bvmul ((_ sign_extend 24) ((_ extract 23 16) s0)) ((_ sign_extend 24) ((_ extract 23 16) s1)))) (sw64 (bvmul ((_ sign_extend 24) ((_ extract 31 24) s0)) ((_ sign_extend 24) ((_ extract 31 24) s1))))))
(define-fun v_dot4_i32_i8 ((s0 B32) (s1 B32) (s2 B32)) B32
  (low (bvadd (dot4_i s0 s1) (sw64 s2))))
(define-fun v_dot4_i32_i8.clamp ((s0 B32) (s1 B32) (s2 B32)) B32
  (sat_i32 (bvadd (dot4_i s0 s1) (sw64 s2))))
(define-fun dot4_u ((s0 B32) (s1 B32)) B64
  (bvadd (uw64 (bvmul ((_ zero_extend 24) ((_ extract 7 0) s0)) ((_ zero_extend 24) ((_ extract 7 0) s1)))) (uw64 (bvmul ((_ zero_extend 24) ((_ extract 15 8) s0)) ((_ zero_extend 24) ((_ extract 15 8) s1)))) (uw64 (bvmul ((_ zero_extend 24) ((_ extract 23 16) s0)) ((_ zero_extend 24) ((_ extract 23 16) s1)))) (uw64 (bvmul ((_ zero_extend 24) ((_ extract 31 24) s0)) ((_ zero_extend 24) ((_ extract 31 24) s1))))))
(define-fun v_dot4_u32_u8 ((s0 B32) (s1 B32) (s2 B32)) B32
  (low (bvadd (dot4_u s0 s1) (uw64 s2))))
(define-fun v_dot4_u32_u8.clamp ((s0 B32) (s1 B32) (s2 B32)) B32
  (sat_u32 (bvadd (dot4_u s0 s1) (uw64 s2))))
(define-fun v_dot4c_i32_i8 ((s0 B32) (s1 B32) (d B32)) B32
  (low (bvadd (dot4_i s0 s1) (sw64 d))))
(define-fun v_dot4c_i32_i8.clamp ((s0 B32) (s1 B32) (d B32)) B32
  (sat_i32 (bvadd (dot4_i s0 s1) (sw64 d))))
(define-fun dot8_i ((s0 B32) (s1 B32)) B64
  (bvadd (sw64 (bvmul ((_ sign_extend 28) ((_ extract 3 0) s0)) ((_ sign_extend 28) ((_ extract 3 0) s1)))) (sw64 (bvmul ((_ sign_extend 28) ((_ extract 7 4) s0)) ((_ sign_extend 28) ((_ extract 7 4) s1)))) (sw64 (bvmul ((_ sign_extend 28) ((_ extract 11 8) s0)) ((_ sign_extend 28) ((_ extract 11 8) s1)))) (sw64 (bvmul ((_ sign_extend 28) ((_ extract 15 12) s0)) ((_ sign_extend 28) ((_ extract 15 12) s1)))) (sw64 (bvmul ((_ sign_extend 28) ((_ extract 19 16) s0)) ((_ sign_extend 28) ((_ extract 19 16) s1)))) (sw64 (bvmul ((_ sign_extend 28) ((_ extract 23 20) s0)) ((_ sign_extend 28) ((_ extract 23 20) s1)))) (sw64 (bvmul ((_ sign_extend 28) ((_ extract 27 24) s0)) ((_ sign_extend 28) ((_ extract 27 24) s1)))) (sw64 (bvmul ((_ sign_extend 28) ((_ extract 31 28) s0)) ((_ sign_extend 28) ((_ extract 31 28) s1))))))
(define-fun v_dot8_i32_i4 ((s0 B32) (s1 B32) (s2 B32)) B32
  (low (bvadd (dot8_i s0 s1) (sw64 s2))))
(define-fun v_dot8_i32_i4.clamp ((s0 B32) (s1 B32) (s2 B32)) B32
  (sat_i32 (bvadd (dot8_i s0 s1) (sw64 s2))))
(define-fun dot8_u ((s0 B32) (s1 B32)) B64
  (bvadd (uw64 (bvmul ((_ zero_extend 28) ((_ extract 3 0) s0)) ((_ zero_extend 28) ((_ extract 3 0) s1)))) (uw64 (bvmul ((_ zero_extend 28) ((_ extract 7 4) s0)) ((_ zero_extend 28) ((_ extract 7 4) s1)))) (uw64 (bvmul ((_ zero_extend 28) ((_ extract 11 8) s0)) ((_ zero_extend 28) ((_ extract 11 8) s1)))) (uw64 (bvmul ((_ zero_extend 28) ((_ extract 15 12) s0)) ((_ zero_extend 28) ((_ extract 15 12) s1)))) (uw64 (bvmul ((_ zero_extend 28) ((_ extract 19 16) s0)) ((_ zero_extend 28) ((_ extract 19 16) s1)))) (uw64 (bvmul ((_ zero_extend 28) ((_ extract 23 20) s0)) ((_ zero_extend 28) ((_ extract 23 20) s1)))) (uw64 (bvmul ((_ zero_extend 28) ((_ extract 27 24) s0)) ((_ zero_extend 28) ((_ extract 27 24) s1)))) (uw64 (bvmul ((_ zero_extend 28) ((_ extract 31 28) s0)) ((_ zero_extend 28) ((_ extract 31 28) s1))))))
(define-fun v_dot8_u32_u4 ((s0 B32) (s1 B32) (s2 B32)) B32
  (low (bvadd (dot8_u s0 s1) (uw64 s2))))
(define-fun v_dot8_u32_u4.clamp ((s0 B32) (s1 B32) (s2 B32)) B32
  (sat_u32 (bvadd (dot8_u s0 s1) (uw64 s2))))
(define-fun v_dot8c_i32_i4 ((s0 B32) (s1 B32) (d B32)) B32
  (low (bvadd (dot8_i s0 s1) (sw64 d))))
(define-fun v_dot8c_i32_i4.clamp ((s0 B32) (s1 B32) (d B32)) B32
  (sat_i32 (bvadd (dot8_i s0 s1) (sw64 d))))
