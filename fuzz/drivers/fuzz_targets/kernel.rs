#![cfg_attr(not(feature = "afl"), no_main)]

drivers::driver!(drivers::kernel);
