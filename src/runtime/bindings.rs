//! The code that `bindgen!` generates from the WIT files: the traits that the host implements for a guest.

#![allow(missing_docs, unreachable_pub, clippy::all)]

wasmtime::component::bindgen!({
    inline: "
        package isopod:host;
        world host {
            include isopod:kernel/program@0.1.0;
            import wasi:filesystem/types@0.2.12;
            import wasi:filesystem/preopens@0.2.12;
        }
    ",
    path: "wit",
    world: "isopod:host/host",
    imports: {
        "isopod:kernel/files.read": async | trappable,
        "isopod:kernel/files.write": async | trappable,
        "isopod:kernel/process.next-order": async | trappable,
        "isopod:kernel/process.wait": async | trappable,
        "wasi:filesystem/types.[method]descriptor.sync": async | trappable,
        "wasi:filesystem/types.[method]descriptor.sync-data": async | trappable,
        default: trappable,
    },
    trappable_error_type: {
        "wasi:filesystem/types.error-code" => crate::runtime::filesystem::FsError,
    },
    with: {
        "wasi:io": wasmtime_wasi::p2::bindings::io,
        "wasi:clocks": wasmtime_wasi::p2::bindings::clocks,
        "wasi:filesystem/types.descriptor": crate::runtime::filesystem::Descriptor,
        "wasi:filesystem/types.directory-entry-stream": crate::runtime::filesystem::EntryStream,
    },
    require_store_data_send: true,
});
