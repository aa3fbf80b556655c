// The buyer's page: the stage with the show's title, the ticket, the house.
import { html, render } from 'htm/preact';
import { useEffect, useReducer, useRef, useState } from 'preact/hooks';
import { useLanguage } from '/static/shared/language.js';
import { useSession } from '/static/shared/session.js';
import { Corner } from '/static/shared/top.js';
import { words } from '/static/buyer/words.js';
import { House } from '/static/buyer/house.js';
import { followHouse } from '/static/buyer/live.js';
import { fetchShow, useBooking } from '/static/buyer/booking.js';
import { useBuyer } from '/static/buyer/visitor.js';
import { Ticket } from '/static/buyer/ticket.js';
import { SeatGrid } from '/static/buyer/seat-grid.js';
import { SeatPicture } from '/static/buyer/seat-picture.js';

const LARGEST_GRID = 2000; // seats; a larger house is drawn, not built of elements
const PATIENCE_MS = 1000; // shorter interruptions are not worth a word

function useShow() {
  const [show, setShow] = useState(null);
  useEffect(() => {
    fetchShow().then(setShow);
  }, []);
  return show;
}

// null, 'offline' or 'reconnecting'
function useTrouble(connection) {
  const [online, setOnline] = useState(navigator.onLine);
  const [lostForLong, setLostForLong] = useState(false);
  useEffect(() => {
    const update = () => setOnline(navigator.onLine);
    window.addEventListener('online', update);
    window.addEventListener('offline', update);
  }, []);
  useEffect(() => {
    if (connection !== 'lost') {
      setLostForLong(false);
      return undefined;
    }
    const timer = setTimeout(() => setLostForLong(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [connection]);
  if (!online) return 'offline';
  return lostForLong ? 'reconnecting' : null;
}

// The house, and its connection: 'opening', 'live' or 'lost'. onHouse() is called before each drawing.
function useHouse(onHouse) {
  const house = useRef(new House()).current;
  const [connection, setConnection] = useState('opening');
  const [, draw] = useReducer((count) => count + 1, 0);
  const latest = useRef(onHouse);
  latest.current = onHouse;
  useEffect(() => {
    let whole = false;
    return followHouse(house, {
      onConnection: setConnection,
      onSnapshot: () => {
        whole = true;
      },
      onChange: () => {
        latest.current(house, whole);
        whole = false;
        draw();
      },
    });
  }, []);
  return { house, connection };
}

function Stage({ show, session, language }) {
  const { say, code } = language;
  const korean = code === 'ko';
  const title = (korean ? show?.titleKo : null) || show?.title || (show ? say('noTitle') : '');
  const venue = (korean ? show?.venueKo : null) || show?.venue;
  const starts = show?.startsAt && new Date(show.startsAt);
  useEffect(() => {
    if (title) document.title = `${title} · Tickettock`;
  }, [title]);
  return html`
    <header class="stage">
      <${Corner} session=${session} language=${language} />
      <h1>${title}</h1>
      <p class="when">
        ${starts && html`<time datetime=${show.startsAt}>
          ${starts.toLocaleString(code, { dateStyle: 'full', timeStyle: 'short' })}</time>`}
        ${venue && html`<span class="venue">${venue}</span>`}
      </p>
    </header>`;
}

function Seats({ house, mine, language }) {
  const { say } = language;
  const Picture = house.total > LARGEST_GRID ? SeatPicture : SeatGrid;
  return html`
    <section class="house" aria-label=${say('seats')}>
      ${house.total > 0
        ? html`<${Picture} key=${house.plan} house=${house} mine=${mine} language=${language} />`
        : html`<p class="loading">${say(house.known ? 'noSeats' : 'loading')}</p>`}
    </section>`;
}

function App() {
  const language = useLanguage(words);
  const { say } = language;
  const show = useShow();
  const session = useSession();
  const buyer = useBuyer(session.user);
  const booking = useBooking(buyer);
  const remainingBefore = useRef(null);

  const { house, connection } = useHouse((changed, whole) => {
    const returned = remainingBefore.current === 0 && changed.remaining > 0;
    remainingBefore.current = changed.remaining;
    if (returned && !booking.seat) booking.tell({ tone: 'good', key: 'seatReturned' });
    if (changed.remaining === 0 && booking.message?.key === 'seatReturned') booking.tell(null);
    // A new snapshot may follow a reset; a seat of mine that is free was given back elsewhere.
    if (booking.seat && (whole || !changed.isTaken(booking.seat.id))) booking.check();
  });
  const trouble = useTrouble(connection);

  return html`
    <p class="banner" role="status">${trouble && html`<span>${say(trouble)}</span>`}</p>
    <div class="page">
      <${Stage} show=${show} session=${session} language=${language} />
      <main>
        <${Ticket} booking=${booking} house=${house} account=${Boolean(session.user)}
          live=${connection === 'live'} language=${language} />
        <${Seats} house=${house} mine=${booking.seat?.id} language=${language} />
      </main>
      <footer>
        <span>Tickettock</span>
        <a href="/docs">${say('forDevelopers')}</a>
      </footer>
    </div>`;
}

render(html`<${App} />`, document.getElementById('page'));
