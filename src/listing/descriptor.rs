//! A kernel descriptor as the directives of an `.amdhsa_kernel` block.

use frontend::Gfx;
use runtime::object::{KernelDescriptor, Setting, Target};

/// The block's directives with their values, in LLVM's order.
pub fn directives(d: &KernelDescriptor, target: &Target) -> Vec<(&'static str, u32)> {
    let gfx = target.gfx;
    let mut out = Vec::with_capacity(40);
    let mut put = |name, value: u32| out.push((name, value));
    put("group_segment_fixed_size", d.group_segment_fixed_size);
    put("private_segment_fixed_size", d.private_segment_fixed_size);
    put("kernarg_size", d.kernarg_size);
    // The counts give back the descriptor's granules. Reserved registers are the required ones:
    // assemblers insist on XNACK_MASK where the target may have XNACK on.
    let xnack = matches!(target.xnack, Setting::Any | Setting::On);
    put("next_free_vgpr", d.vgpr_count(gfx));
    put("reserve_vcc", 0);
    if gfx != Gfx::Gfx600 && !gfx.presets_flat_scratch() {
        put("reserve_flat_scratch", 0);
    }
    if gfx.is_gfx8_up() {
        put("reserve_xnack_mask", xnack.into());
    }
    let reserved = if xnack { 4 } else { 0 };
    put("next_free_sgpr", 8 * (d.granulated_sgprs() + 1) - reserved);
    if gfx.has_unified_vgprs() {
        put("accum_offset", d.accum_offset());
        put("tg_split", d.tg_split().into());
    }
    put("float_round_mode_32", d.round_mode_32());
    put("float_round_mode_16_64", d.round_mode_16_64());
    put("float_denorm_mode_32", d.denorm_mode_32());
    put("float_denorm_mode_16_64", d.denorm_mode_16_64());
    put("dx10_clamp", d.dx10_clamp().into());
    put("ieee_mode", d.ieee_mode().into());
    if gfx.has_fp16_overflow() {
        put("fp16_overflow", d.fp16_overflow().into());
    }
    let private = match gfx.presets_flat_scratch() {
        true => "enable_private_segment",
        false => "system_sgpr_private_segment_wavefront_offset",
    };
    put(private, d.enable_private_segment().into());
    put(
        "system_sgpr_workgroup_id_x",
        d.enable_workgroup_id_x().into(),
    );
    put(
        "system_sgpr_workgroup_id_y",
        d.enable_workgroup_id_y().into(),
    );
    put(
        "system_sgpr_workgroup_id_z",
        d.enable_workgroup_id_z().into(),
    );
    put(
        "system_sgpr_workgroup_info",
        d.enable_workgroup_info().into(),
    );
    put("system_vgpr_workitem_id", d.workitem_id_vgprs());
    put(
        "exception_fp_ieee_invalid_op",
        d.exception_fp_invalid().into(),
    );
    put(
        "exception_fp_denorm_src",
        d.exception_fp_denorm_source().into(),
    );
    put(
        "exception_fp_ieee_div_zero",
        d.exception_fp_div_zero().into(),
    );
    put(
        "exception_fp_ieee_overflow",
        d.exception_fp_overflow().into(),
    );
    put(
        "exception_fp_ieee_underflow",
        d.exception_fp_underflow().into(),
    );
    put("exception_fp_ieee_inexact", d.exception_fp_inexact().into());
    put("exception_int_div_zero", d.exception_int_div_zero().into());
    if !gfx.presets_flat_scratch() {
        put(
            "user_sgpr_private_segment_buffer",
            d.private_segment_buffer().into(),
        );
    }
    put("user_sgpr_dispatch_ptr", d.dispatch_ptr().into());
    put("user_sgpr_queue_ptr", d.queue_ptr().into());
    put(
        "user_sgpr_kernarg_segment_ptr",
        d.kernarg_segment_ptr().into(),
    );
    put("user_sgpr_dispatch_id", d.dispatch_id().into());
    if !gfx.presets_flat_scratch() {
        put("user_sgpr_flat_scratch_init", d.flat_scratch_init().into());
    }
    put(
        "user_sgpr_private_segment_size",
        d.private_segment_size().into(),
    );
    if gfx.preloads_arguments() && d.preload_length() != 0 {
        put("user_sgpr_kernarg_preload_length", d.preload_length());
        put("user_sgpr_kernarg_preload_offset", d.preload_offset());
    }
    if d.user_sgpr_count() != d.enabled_user_sgprs() {
        put("user_sgpr_count", d.user_sgpr_count());
    }
    put("uses_dynamic_stack", d.uses_dynamic_stack().into());
    out
}
