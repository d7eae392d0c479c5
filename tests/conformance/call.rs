//! The framework calls, by name.

use std::time::Duration;

use isopod::backend::profile::deepagents::Version;
use isopod::backend::profile::{aio, artisan, deepagents, deerflow};
use isopod::backend::{BackendError, CommandLineJson, EditRequest, Result, Upload, WriteRequest};
use isopod::{Command, Output};
use serde_json::{Value, json};

use crate::subject::Subject;

/// Calls a method and returns the answer in the form of the framework.
pub async fn call(subject: &Subject, name: &str, arguments: &Value) -> Value {
    let (framework, method) = name.split_once('.').unwrap();
    match framework {
        "deepagents" => deepagents(subject, method, arguments).await,
        "deerflow" => deerflow(subject, method, arguments).await,
        "aio" => aio(subject, method, arguments).await,
        "artisan" => artisan(subject, method, arguments).await,
        _ => panic!("nobody knows {name}"),
    }
}

async fn deepagents(subject: &Subject, method: &str, arguments: &Value) -> Value {
    let backend = &subject.backend;
    let text = |name: &str| arguments[name].as_str();
    let number = |name: &str, other: i64| arguments[name].as_i64().unwrap_or(other);
    let path = text("path").unwrap_or_default();
    let version = if method.ends_with("06") { Version::V06 } else { Version::V07 };
    match method.trim_end_matches("06") {
        "ls" => answer(deepagents::ls_result(path, backend.ls(path).await)),
        "read" => {
            let request = deepagents::read_request(path, number("offset", 0), number("limit", 2000));
            answer(deepagents::read_result(path, backend.read(request).await))
        }
        "write" => {
            let request = deepagents::write_request(path, text("content").unwrap(), version);
            answer(deepagents::write_result(path, backend.write(request).await))
        }
        "edit" => {
            let request = EditRequest {
                replace_all: arguments["replace_all"].as_bool().unwrap_or(false),
                ..EditRequest::new(path, text("old").unwrap(), text("new").unwrap())
            };
            answer(deepagents::edit_result(&request, backend.edit(request.clone()).await))
        }
        "delete" => answer(deepagents::delete_result(path, backend.delete(path).await)),
        "glob" => {
            let request = deepagents::glob_request(text("pattern").unwrap(), text("path"), version);
            let globbed = backend.glob(request.clone()).await;
            answer(deepagents::glob_result(&request, globbed, version))
        }
        "grep" => {
            let most = arguments["max_count"].as_u64();
            let mut request = deepagents::grep_request(text("pattern").unwrap(), text("path"), text("glob"), most);
            (request.before, request.after) = (number("before", 0) as usize, number("after", 0) as usize);
            answer(deepagents::grep_result(text("path"), backend.grep(request).await))
        }
        "upload" => {
            let files = arguments["files"].as_array().unwrap().iter().map(|file| {
                let path = file[0].as_str().unwrap();
                Upload::new(path, file[1].as_str().unwrap().to_owned())
            });
            let files: Vec<Upload> = files.collect();
            let mut answers = Vec::new();
            // A file that the profile refuses is not passed to the backend.
            for file in files {
                let path = file.path.clone();
                let written = match deepagents::transfer_fault(&path) {
                    Some(_) => Err(BackendError::NotRegular(path.clone())),
                    None => backend.upload(vec![file]).await.remove(0),
                };
                answers.push(answer(deepagents::upload_response(&path, written)));
            }
            Value::Array(answers)
        }
        "download" => {
            let paths = arguments["paths"].as_array().unwrap().iter().map(|path| path.as_str().unwrap().to_owned());
            let paths: Vec<String> = paths.collect();
            let contents = backend.download(paths.clone()).await;
            let answers = paths.iter().zip(contents).map(|(path, content)| {
                let response = deepagents::download_response(path, content);
                let content = response.content.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                json!({ "path": response.path, "content": content, "error": response.error })
            });
            answers.collect()
        }
        "execute" => answer(deepagents::execute_response(execute(subject, arguments).await)),
        "execute_text" => {
            json!(deepagents::execute_text(&deepagents::execute_response(execute(subject, arguments).await)))
        }
        "local_shell" => {
            let timeout = arguments["timeout"].as_u64();
            let limit = number("limit", 100_000) as usize;
            answer(deepagents::local_shell_response(execute(subject, arguments).await, timeout, limit))
        }
        "execute_with_offload" => {
            let most = arguments["max_capture_bytes"].as_u64();
            let offload = deepagents::offload(path, number("max_inline_bytes", 0) as u64, most);
            let request = request(arguments);
            let offloaded = subject.executing().unwrap().execute_with_offload(request, offload).await;
            answer(deepagents::offload_result(offloaded))
        }
        _ => panic!("nobody knows {method}"),
    }
}

async fn deerflow(subject: &Subject, method: &str, arguments: &Value) -> Value {
    let backend = &subject.backend;
    let text = |name: &str| arguments[name].as_str();
    let flag = |name: &str| arguments[name].as_bool().unwrap_or(false);
    let most = |other: usize| arguments["max_results"].as_u64().map_or(other, |most| most as usize);
    let path = text("path").unwrap_or_default();
    let or_exception = |error: BackendError| answer(deerflow::exception(&error));
    match method {
        "execute_command" => json!(deerflow::execute_text(execute(subject, arguments).await)),
        "read_file" => {
            let line = |name: &str| arguments[name].as_u64();
            let request = deerflow::read_request(path, line("start_line"), line("end_line"));
            match deerflow::read_text(path, backend.read(request).await) {
                Ok(text) => json!(text),
                Err(exception) => answer(exception),
            }
        }
        "write_file" => {
            let request = deerflow::write_request(path, text("content").unwrap(), flag("append"));
            backend.write(request).await.map_or_else(or_exception, |_| Value::Null)
        }
        "update_file" => {
            let request = WriteRequest::new(path, text("content").unwrap().to_owned());
            backend.write(request).await.map_or_else(or_exception, |_| Value::Null)
        }
        "download_file" => match backend.download(vec![path.to_owned()]).await.remove(0) {
            Ok(bytes) => json!(String::from_utf8_lossy(&bytes)),
            Err(error) => or_exception(error),
        },
        "list_dir" => {
            let depth = arguments["max_depth"].as_u64().map_or(deerflow::LIST_DEPTH, |depth| depth as usize);
            let globbed = backend.glob(deerflow::list_request(path, depth)).await;
            globbed.map_or_else(or_exception, |globbed| json!(deerflow::list_lines(globbed)))
        }
        "glob" => {
            let most = most(deerflow::GLOB_RESULTS);
            let request = deerflow::glob_request(path, text("pattern").unwrap(), flag("include_dirs"), most);
            backend.glob(request).await.map_or_else(or_exception, |globbed| json!(deerflow::glob_answer(globbed)))
        }
        "grep" => {
            let request = deerflow::grep_request(
                path,
                text("pattern").unwrap(),
                text("glob"),
                flag("literal"),
                flag("case_sensitive"),
                most(deerflow::GREP_RESULTS),
            );
            backend.grep(request).await.map_or_else(or_exception, |grepped| json!(deerflow::grep_answer(grepped)))
        }
        _ => panic!("nobody knows {method}"),
    }
}

async fn artisan(subject: &Subject, method: &str, arguments: &Value) -> Value {
    let backend = &subject.backend;
    let text = |name: &str| arguments[name].as_str();
    let path = text("path").unwrap_or_default();
    let or_error = |error: BackendError| json!({ "error": artisan::error_text(&error) });
    match method {
        "exec" => {
            let timeout = arguments["timeout_ms"].as_u64();
            let request = artisan::exec_request(text("command").unwrap(), text("cwd"), timeout);
            answer(artisan::exec_result(subject.executing().unwrap().execute(request).await))
        }
        "read_file" => {
            let content = artisan::read_text(backend.read(artisan::read_request(path)).await);
            content.map_or_else(or_error, Value::String)
        }
        "write_file" => {
            let append = arguments["append"].as_bool().unwrap_or(false);
            let request = artisan::write_request(path, text("content").unwrap(), append);
            backend.write(request).await.map_or_else(or_error, |_| Value::Null)
        }
        "list_dir" => {
            let globbed = backend.glob(artisan::list_request(path)).await;
            globbed.map_or_else(or_error, |globbed| json!(artisan::relative_paths(globbed)))
        }
        "glob" => {
            let globbed = backend.glob(artisan::glob_request(text("pattern").unwrap(), path)).await;
            globbed.map_or_else(or_error, |globbed| json!(artisan::relative_paths(globbed)))
        }
        "grep" => {
            let grepped = backend.grep(artisan::grep_request(text("pattern").unwrap(), path, text("include"))).await;
            grepped.map_or_else(or_error, |grepped| json!(artisan::grep_lines(grepped)))
        }
        _ => panic!("nobody knows {method}"),
    }
}

async fn aio(subject: &Subject, method: &str, arguments: &Value) -> Value {
    let backend = &subject.backend;
    let text = |name: &str| arguments[name].as_str().unwrap_or_default();
    let flag = |name: &str| arguments[name].as_bool().unwrap_or(false);
    let (path, command) = (text("path"), text("command"));
    match method {
        "shell_exec" | "bash_exec" => {
            let request = aio::exec_request(command, &[], arguments["hard_timeout"].as_f64());
            let executed = subject.executing().unwrap().execute(request).await;
            match method {
                "shell_exec" => answer(aio::answer(executed, |executed| aio::shell_exec("s", command, &executed))),
                _ => answer(aio::answer(executed, |executed| aio::bash_exec("s", command, &executed))),
            }
        }
        "file_read" => {
            let line = |name: &str| arguments[name].as_u64();
            let content = backend.read(aio::read_request(path, line("start_line"), line("end_line"))).await;
            answer(aio::answer(aio::file_read(path, content), |read| read))
        }
        "file_write" => {
            let encoding = arguments["encoding"].as_str().unwrap_or("utf-8");
            let written = match aio::write_request(path, text("content"), encoding, flag("append")) {
                Ok(request) => backend.write(request).await,
                Err(error) => Err(error),
            };
            answer(aio::answer(written, |written| aio::file_write(path, written.bytes)))
        }
        "file_find" => {
            let globbed = backend.glob(aio::find_request(path, text("glob"))).await;
            answer(aio::answer(globbed, |globbed| aio::file_find(path, globbed)))
        }
        "file_list" => {
            let request = aio::list_request(path, flag("recursive"), flag("show_hidden"));
            answer(aio::answer(backend.glob(request).await, |globbed| aio::file_list(path, globbed)))
        }
        "file_grep" => {
            let most = arguments["max_results"].as_u64().unwrap_or(100) as usize;
            let (fold, fixed) = (flag("case_insensitive"), flag("fixed_strings"));
            let pattern = text("pattern");
            let request = aio::grep_request(path, pattern, fold, fixed, most, flag("recursive"));
            let grepped = match request {
                Ok(request) => backend.grep(request).await,
                Err(error) => Err(error),
            };
            answer(aio::answer(grepped, |grepped| aio::file_grep(path, pattern, grepped)))
        }
        _ => panic!("nobody knows {method}"),
    }
}

fn request(arguments: &Value) -> Command {
    let line: CommandLineJson = serde_json::from_value(arguments["command"].clone()).unwrap();
    let mut request = Command::new(line.into());
    request.timeout = arguments["timeout"].as_f64().map(Duration::from_secs_f64);
    request.cwd = arguments["cwd"].as_str().map(str::to_owned);
    request.output_limit = arguments["output"].as_u64();
    for (name, value) in arguments["env"].as_object().into_iter().flatten() {
        request = request.env(name, value.as_str().unwrap());
    }
    request
}

async fn execute(subject: &Subject, arguments: &Value) -> Result<Output> {
    subject.executing().unwrap().execute(request(arguments)).await
}

fn answer(value: impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}
