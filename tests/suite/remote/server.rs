//! A server of files on this machine, with faults on request.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A request, with the names of its headers in lower case.
#[derive(Clone, Debug)]
pub struct Request {
    pub path: String,
    pub headers: BTreeMap<String, String>,
}

impl Request {
    /// Returns the requested range as the positions of its first and last byte.
    pub fn range(&self) -> Option<(usize, usize)> {
        let (first, last) = self.headers.get("range")?.strip_prefix("bytes=")?.split_once('-')?;
        Some((first.parse().ok()?, last.parse().ok()?))
    }

    /// Returns a header, or an empty text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// The body of a reply.
#[derive(Clone, Debug)]
pub enum Body {
    Bytes(Vec<u8>),
    /// A body that is shorter than the stated length.
    Short(u64, Vec<u8>),
    /// A body without a stated length that never ends.
    Endless,
    /// No reply at all.
    Silence,
}

/// A reply to a request.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Body,
}

impl Reply {
    /// Creates a reply without headers.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Reply { status, headers: Vec::new(), body: Body::Bytes(body.into()) }
    }

    /// Adds a header.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Replies to a request with a file or the requested part of it, as a correct server does.
    pub fn file(request: &Request, file: &[u8], etag: &str) -> Self {
        if request.header("if-none-match") == etag {
            return Reply::new(304, "").with("ETag", etag);
        }
        if !matches!(request.header("if-match"), "" | "*") && request.header("if-match") != etag {
            return Reply::new(412, "");
        }
        let Some((first, last)) = request.range() else {
            return Reply::new(200, file).with("ETag", etag);
        };
        if first >= file.len() {
            return Reply::new(416, "").with("Content-Range", format!("bytes */{}", file.len()));
        }
        let last = last.min(file.len() - 1);
        let range = format!("bytes {first}-{last}/{}", file.len());
        Reply::new(206, &file[first..=last]).with("ETag", etag).with("Content-Range", range)
    }
}

/// A connection to a client.
pub trait Stream: Read + Write + Send {}

impl<S: Read + Write + Send> Stream for S {}

/// A server that runs until the process of the tests ends.
pub struct Server {
    scheme: &'static str,
    port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
    sent: Arc<Mutex<u64>>,
}

impl Server {
    /// Starts a server that replies by `handler`.
    pub fn start(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Server::over("http", |stream| Box::new(stream), handler)
    }

    /// Starts a server that replies by `handler`; `open` wraps each TCP connection, for example in TLS.
    pub fn over(
        scheme: &'static str,
        open: impl Fn(TcpStream) -> Box<dyn Stream> + Send + Sync + 'static,
        handler: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let server = Server { scheme, port, requests: Arc::default(), sent: Arc::default() };
        let (requests, sent, handler) = (server.requests.clone(), server.sent.clone(), Arc::new(handler));
        let open = Arc::new(open);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (requests, sent, handler) = (requests.clone(), sent.clone(), handler.clone());
                let open = open.clone();
                thread::spawn(move || {
                    let mut stream = open(stream);
                    let request = read(&mut stream)?;
                    requests.lock().expect("no test failed").push(request.clone());
                    let reply = handler(&request);
                    *sent.lock().expect("no test failed") += length(&reply);
                    write(&mut stream, &reply).ok()
                });
            }
        });
        server
    }

    /// Starts a server of one file, at every path.
    pub fn of(file: impl Into<Vec<u8>>) -> Self {
        let file = file.into();
        Server::start(move |request| Reply::file(request, &file, "\"1\""))
    }

    /// Returns the URL of a path, which has no leading slash.
    pub fn url(&self, path: &str) -> String {
        format!("{}://127.0.0.1:{}/{path}", self.scheme, self.port)
    }

    /// Returns the requests received so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("no test failed").clone()
    }

    /// Returns the number of bytes in the bodies of all replies so far, except endless ones.
    pub fn sent(&self) -> u64 {
        *self.sent.lock().expect("no test failed")
    }
}

fn length(reply: &Reply) -> u64 {
    match &reply.body {
        Body::Bytes(bytes) | Body::Short(_, bytes) => bytes.len() as u64,
        Body::Endless | Body::Silence => 0,
    }
}

fn read(stream: &mut dyn Stream) -> Option<Request> {
    let mut lines = BufReader::new(stream.take(1 << 16)).lines();
    let start = lines.next()?.ok()?;
    let path = start.split(' ').nth(1)?.to_owned();
    let mut headers = BTreeMap::new();
    for line in lines {
        let line = line.ok()?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    Some(Request { path, headers })
}

fn write(stream: &mut dyn Stream, reply: &Reply) -> std::io::Result<()> {
    if matches!(reply.body, Body::Silence) {
        thread::sleep(Duration::from_secs(60));
        return Ok(());
    }
    let mut head = format!("HTTP/1.1 {} Reply\r\nConnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head += &format!("{name}: {value}\r\n");
    }
    match &reply.body {
        Body::Bytes(bytes) => head += &format!("Content-Length: {}\r\n", bytes.len()),
        Body::Short(len, _) => head += &format!("Content-Length: {len}\r\n"),
        Body::Endless | Body::Silence => {}
    }
    stream.write_all(head.as_bytes())?;
    stream.write_all(b"\r\n")?;
    match &reply.body {
        Body::Bytes(bytes) | Body::Short(_, bytes) => stream.write_all(bytes)?,
        Body::Endless => loop {
            stream.write_all(&[0; 4096])?;
        },
        Body::Silence => {}
    }
    stream.flush()
}
