//! Reads the stream of a run, and recovers from failures of the broker.

use std::time::Duration;

use async_nats::jetstream::consumer::pull::{self, MessagesErrorKind};
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer};
use async_nats::jetstream::{self, stream::Stream};
use futures_util::StreamExt as _;
use plimsoll_units::best_effort;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::error::FleetError;
use crate::run_stream::RunStream;

/// A frame that is not in the file after this time is delivered again.
const ACK_WAIT: Duration = Duration::from_secs(60);
/// The most frames that may be delivered and not yet be in the file.
const ACK_PENDING_MAX: i64 = 20_000;
/// The consumer by which a conductor reads the stream of its run.
const CONSUMER: &str = "conductor";
/// How often the broker confirms that it still has a request for frames. After twice this time without a confirmation the request
/// was lost with the node that had it, and is made again.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// A request for frames ends after this time, and the next one is made.
const REQUEST_FOR: Duration = Duration::from_secs(10);
/// The wait before the next request after one failed.
const READ_AGAIN: Duration = Duration::from_millis(250);
/// How long the broker may take to say whether it has the stream.
const FOUND_WITHIN: Duration = Duration::from_secs(2);
/// The most frames that are read ahead of the conductor.
const AHEAD: usize = 16;

/// Reads the stream of a run.
pub(crate) struct Reader {
    place: RunStream,
    stream: Stream,
}

/// Frames as they arrive. Dropping this ends the reading.
pub(crate) struct Frames {
    received: Receiver<jetstream::Message>,
    task: JoinHandle<()>,
}

impl Frames {
    pub(crate) async fn next(&mut self) -> Option<jetstream::Message> {
        self.received.recv().await
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Reader {
    pub(crate) fn new(place: RunStream, stream: Stream) -> Self {
        Self { place, stream }
    }

    /// Lets the broker deliver at once what a former conductor received and did not acknowledge.
    pub(crate) async fn take_over(&self) {
        best_effort(self.stream.delete_consumer(CONSUMER).await, "nothing was read of this stream");
    }

    /// Begins to read.
    pub(crate) async fn start(&self) -> Result<Frames, FleetError> {
        let consumer = consumer(&self.stream).await?;
        let frames = request(&consumer).await?;
        let (sender, received) = channel(AHEAD);
        let task = tokio::spawn(read(self.place.clone(), consumer, frames, sender));
        Ok(Frames { received, task })
    }

    /// Removes the stream.
    pub(crate) async fn remove(&self) {
        self.place.remove().await;
    }
}

async fn read(
    place: RunStream,
    mut consumer: PullConsumer,
    mut frames: pull::Stream,
    sender: Sender<jetstream::Message>,
) {
    let mut failures = 0_u32;
    while !sender.is_closed() {
        match frames.next().await {
            Some(Ok(frame)) => {
                failures = 0;
                best_effort(sender.send(frame).await, "the run is over");
                continue;
            }
            // A leader election, or a broken connection. If the request is lost, its heartbeat will be missed.
            Some(Err(error)) if !is_lost(error.kind()) => continue,
            Some(Err(_)) | None => failures += 1,
        }
        sleep(READ_AGAIN).await;
        // A broker that was restarted without its store has neither the stream nor the consumer.
        if failures > 1
            && let Some(found) = found_or_made(&place).await
        {
            consumer = found;
        }
        // It fails only if the connection is closed for good.
        let Ok(again) = request(&consumer).await else { return };
        frames = again;
    }
}

/// True if a request for frames was lost, or there is nothing that could answer it.
fn is_lost(kind: MessagesErrorKind) -> bool {
    use MessagesErrorKind::{ConsumerDeleted, MissingHeartbeat, NoResponders};
    matches!(kind, ConsumerDeleted | MissingHeartbeat | NoResponders)
}

/// Finds the consumer. If the broker has lost it or the stream, makes both again: agents resend what is not in the run file. `None`
/// if the broker does not answer.
async fn found_or_made(place: &RunStream) -> Option<PullConsumer> {
    let stream = match timeout(FOUND_WITHIN, place.find()).await.ok()?.ok()? {
        Some(stream) => stream,
        None => place.make().await.ok()?,
    };
    consumer(&stream).await.ok()
}

async fn consumer(stream: &Stream) -> Result<PullConsumer, FleetError> {
    let config = pull::Config {
        durable_name: Some(CONSUMER.to_owned()),
        ack_policy: AckPolicy::Explicit,
        ack_wait: ACK_WAIT,
        max_ack_pending: ACK_PENDING_MAX,
        ..pull::Config::default()
    };
    let made = stream.get_or_create_consumer(CONSUMER, config).await;
    made.map_err(|error| FleetError::Unread { why: error.to_string() })
}

/// Requests frames, and returns them as they arrive; requests are renewed on the way. Does not wait for frames.
async fn request(consumer: &PullConsumer) -> Result<pull::Stream, FleetError> {
    let requests = consumer.stream().expires(REQUEST_FOR).heartbeat(HEARTBEAT);
    requests.messages().await.map_err(|error| FleetError::Unread { why: error.to_string() })
}
