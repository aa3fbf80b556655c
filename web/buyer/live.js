// Keeps a House up to date over Server-Sent Events, for as long as the page is open.
//
// A browser reconnects by itself when a stream breaks, and asks for what it missed. It gives up when the server
// answers with an error (one that is starting, say); then we open a new stream, less and less often.
import { backOff } from '/static/shared/api.js';

const ADDRESS = '/api/v1/seats/stream';

// onChange(): the house has changed; at most once per frame. onConnection('live' | 'lost').
// onSnapshot(): the whole house came anew. Returns a function that stops it all.
export function followHouse(house, { onChange, onSnapshot, onConnection }) {
  let stream;
  let failures = 0;
  let retry;
  let frame = 0;

  const changed = () => {
    // A hidden page gets no frames: it is drawn when it is looked at again.
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      onChange();
    });
  };

  const alive = () => {
    failures = 0;
    onConnection('live');
  };

  const open = () => {
    clearTimeout(retry);
    stream?.close();
    stream = new EventSource(ADDRESS);
    stream.addEventListener('open', alive);
    stream.addEventListener('snapshot', (event) => {
      house.applySnapshot(JSON.parse(event.data));
      alive();
      onSnapshot();
      changed();
    });
    stream.addEventListener('seat', (event) => {
      house.applyChanges(JSON.parse(event.data));
      changed();
    });
    stream.addEventListener('error', () => {
      onConnection('lost');
      if (stream.readyState === EventSource.CLOSED) retry = setTimeout(open, backOff(failures++));
    });
  };

  const backOnline = () => {
    if (stream.readyState !== EventSource.OPEN) open();
  };
  window.addEventListener('online', backOnline);
  open();

  return () => {
    window.removeEventListener('online', backOnline);
    clearTimeout(retry);
    cancelAnimationFrame(frame);
    stream.close();
  };
}
