//! Edits: the reported result matches the change.

use isopod::Limits;
use isopod::backend::{Backend, EditRequest, Memory, WriteRequest};

use super::{text, texts};

/// Replaces a text in a file by another.
pub fn edit(data: &[u8]) {
    let texts = texts(data);
    let (content, old, new) = (text(&texts, 0), text(&texts, 1), text(&texts, 2));
    let replace_all = data.len().is_multiple_of(2);
    let mut limits = Limits::default();
    limits.file = 1 << 16;
    let Ok(memory) = Memory::new(&limits) else { panic!("there is no memory") };
    block_on(async {
        if memory.write(WriteRequest::new("/f", content.to_owned())).await.is_err() {
            return;
        }
        let request = EditRequest { replace_all, ..EditRequest::new("/f", old, new) };
        let edited = memory.edit(request).await;
        let after = memory.download(vec!["/f".to_owned()]).await.remove(0);
        let after = String::from_utf8(after.unwrap_or_default()).unwrap_or_default();
        match edited {
            Ok(edited) => {
                assert!(edited.occurrences >= 1 && !old.is_empty());
                assert!(replace_all || edited.occurrences == 1);
                assert!(after.len() <= 1 << 16);
                // Without line ends nothing is normalised.
                if ![content, old, new].iter().any(|text| text.contains(['\r', '\n'])) {
                    assert_eq!(after, content.replace(old, new));
                }
            }
            Err(_) => assert_eq!(after, content, "a refused edit changed something"),
        }
    });
}

fn block_on(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_or_else(|error| panic!("{error}"), |runtime| runtime.block_on(work));
}
