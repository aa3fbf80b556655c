// Buyers that go on buying whatever happens to the servers, and somebody who watches whether the servers are alive.
import assert from 'node:assert/strict';
import { ask, sleep } from '../api/client.mjs';
import { eventually } from '../api/support.mjs';
import { HEALTH_MS, mostWaited, waited } from './health.mjs';

const BUYERS = 15;
const SOON_MS = 1300; // "within a second", and some room for a machine that is busy
let crowds = 0;

/** Buyers with a new name each time; every tenth gives the seat back. */
export class Crowd {
  answers = [];
  #going = true;
  #buyers;

  constructor(office) {
    const name = `crowd-${crowds++}`;
    this.#buyers = Array.from({ length: BUYERS }, async (_, buyer) => {
      for (let i = 0; this.#going; i++) {
        const user = `${name}-${buyer}-${i}`;
        const answer = await office.claim(user);
        this.#note(answer);
        if (answer.status === 200 && i % 10 === 0) this.#note(await office.giveBack(user));
        await sleep(20);
      }
    });
  }

  #note(answer) {
    this.answers.push({ ...answer, json: undefined, reason: answer.status >= 400 ? JSON.parse(answer.text).reason : null, at: performance.now() });
  }

  /** What was answered since a moment of performance.now(). */
  since(moment) {
    return this.answers.filter((answer) => answer.at >= moment);
  }

  async stop() {
    this.#going = false;
    await Promise.all(this.#buyers);
  }
}

/** Asks /healthz all the time, on connections of its own. The time in which the server, or this process, was ready to run
 *  and had no processor is the machine's. */
export class Watch {
  times = [];
  #going = true;
  #watching;

  constructor(servers) {
    this.#watching = Promise.all(servers.map(async (server) => {
      while (this.#going) {
        const before = waited(server.pid), own = waited('self');
        const { status, milliseconds } = await ask(server, { path: '/healthz' });
        assert.equal(status, 200);
        const isSlow = milliseconds > HEALTH_MS;
        this.times.push(milliseconds - (isSlow ? mostWaited(before, waited(server.pid)) + mostWaited(own, waited('self')) : 0));
        await sleep(10);
      }
    }));
  }

  /** One of a hundred may have met a moment when this process itself was busy. */
  async stop() {
    this.#going = false;
    await this.#watching;
    this.times.sort((a, b) => a - b);
    const most = this.times[Math.floor(this.times.length * 0.99)];
    assert.ok(most <= HEALTH_MS, `/healthz took ${Math.round(most)} ms`);
  }
}

/** While a part is away: clear answers, soon. */
export function assertRefusedSoon(answers, reasons) {
  const refused = answers.filter((answer) => answer.status === 503);
  assert.ok(refused.length > 0, 'nobody noticed');
  for (const answer of refused) assert.ok(reasons.includes(answer.reason), `${answer.text}`);
  const slowest = Math.max(...answers.map((answer) => answer.milliseconds ?? 0));
  assert.ok(slowest <= SOON_MS, `an answer took ${Math.round(slowest)} ms`);
  return slowest;
}

/** Selling works again, without a restart of the server. One claim speaks for one of the server's loops; each of them
 *  finds its own way back to Redis, and only readiness speaks for all. */
export async function recovered(office, seconds = 10) {
  let tries = 0;
  for (const server of office.servers) {
    await eventually(`port ${server.port} is ready`, async () => (await ask(server, { path: '/readyz' })).status === 200, seconds);
    await eventually(`port ${server.port} sells again`, async () => {
      const { status } = await office.claim(`probe-${crowds}-${server.port}-${tries++}`, { server });
      return status === 200;
    }, seconds);
  }
}

/** Conservation: everybody knows what they have, nothing is lost or sold twice, and the rest can be sold. */
export async function settleAndSellTheRest(office) {
  await office.settle();
  await office.sellTheRest();
}
