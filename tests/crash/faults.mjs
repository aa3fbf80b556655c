// What can happen to servers, and how it is mended. A fault: { name, away, holdMs, inject(), heal() }. `away` are the
// numbers of the servers that are themselves killed or stopped; all others must stay healthy throughout. `holdMs` is the
// range of how long it lasts.
import { sleep } from '../api/client.mjs';
import { privateServer } from '../api/programs.mjs';
import { eventually } from '../api/support.mjs';
import { CLOCK_NOTICED_MS } from './moving_clock.mjs';
import { canCut, cut, mendAll } from './network.mjs';

const HOUR = 3600;
const MOMENT = [200, 600], SHORT = [400, 1200], LONG = [1500, 3000];

function killServers(servers, numbers, name) {
  return {
    name, away: numbers, holdMs: MOMENT,
    inject: () => Promise.all(numbers.map((number) => servers[number].stop('SIGKILL'))),
    heal: () => Promise.all(numbers.map((number) => servers[number].start())),
  };
}

function stopServer(servers, number, name, holdMs) {
  return {
    name, away: [number], holdMs,
    inject: () => process.kill(servers[number].pid, 'SIGSTOP'),
    heal: () => process.kill(servers[number].pid, 'SIGCONT'),
  };
}

function moveClock(clock, name, seconds) {
  const holdMs = [CLOCK_NOTICED_MS + 200, CLOCK_NOTICED_MS + 800];
  return { name, away: [], holdMs, inject: () => clock.set(seconds), heal: () => clock.set(0) };
}

function fillDisk(disk, name, mend = () => {}) {
  return {
    name, away: [], holdMs: SHORT,
    inject: () => disk.fill(),
    async heal() {
      disk.empty();
      await mend();
    },
  };
}

/** Of the embedded server: `clock` is its clock, `disk` what its data are on (or null). */
export function embeddedFaults({ servers, clocks: [clock], disk }) {
  const faults = [
    killServers(servers, [0], 'server killed'),
    stopServer(servers, 0, 'server stopped', SHORT),
    stopServer(servers, 0, 'server stopped for longer than its locks live', LONG),
    moveClock(clock, 'clock an hour ahead', HOUR),
    moveClock(clock, 'clock an hour back', -HOUR),
    {
      ...killServers(servers, [0], 'server killed, and started with the clock an hour back'),
      async heal() {
        clock.set(-HOUR);
        await servers[0].start();
        clock.set(0);
      },
    },
  ];
  if (disk)
    faults.push(fillDisk(disk, 'disk full'), {
      ...killServers(servers, [0], 'server killed while the disk is full'),
      async inject() {
        disk.fill();
        await sleep(300);
        await servers[0].stop('SIGKILL');
      },
      async heal() {
        disk.empty();
        await servers[0].start();
      },
    });
  return faults;
}

function killPart(part, name) {
  return { name, away: [], holdMs: SHORT, inject: () => privateServer('kill', part.folder), heal: () => part.start() };
}

function stopPart(part, name) {
  return {
    name, away: [], holdMs: LONG, inject: () => privateServer('pause', part.folder), heal: () => privateServer('resume', part.folder),
  };
}

function cutOff(endpoints, how, name) {
  return {
    name: `${name}, ${how === 'drop' ? 'packets lost' : 'connections refused'}`, away: [], holdMs: LONG,
    inject: () => endpoints.forEach((endpoint) => cut(endpoint, how)),
    heal: mendAll,
  };
}

/** `ways[i]` is how server i reaches { postgres, redis }: { address, port }. */
function networkFaults(ways) {
  if (!canCut()) return [];
  const to = (part) => ways.map((way) => way[part]);
  return [
    cutOff([ways[0].postgres], 'drop', 'first server cut off from PostgreSQL'),
    cutOff([ways[1].postgres], 'refuse', 'second server cut off from PostgreSQL'),
    cutOff(to('postgres'), 'drop', 'all cut off from PostgreSQL'),
    cutOff([ways[0].redis], 'refuse', 'first server cut off from Redis'),
    cutOff([ways[1].redis], 'drop', 'second server cut off from Redis'),
    cutOff([...to('postgres'), ...to('redis')], 'drop', 'all cut off from PostgreSQL and Redis'),
  ];
}

export function fleetFaults({ servers, clocks, disk, postgres, redis, ways }) {
  const faults = [
    killServers(servers, [0], 'first server killed'),
    killServers(servers, [1], 'second server killed'),
    killServers(servers, [0, 1], 'all servers killed'),
    stopServer(servers, 0, 'first server stopped', SHORT),
    stopServer(servers, 1, 'second server stopped for longer than its locks live', LONG),
    killPart(postgres, 'PostgreSQL killed'),
    stopPart(postgres, 'PostgreSQL stopped'),
    killPart(redis, 'Redis killed'),
    stopPart(redis, 'Redis stopped'),
    { name: 'Redis emptied', away: [], holdMs: MOMENT, inject: () => privateServer('wipe', redis.folder), heal() {} },
    {
      name: 'PostgreSQL and Redis killed', away: [], holdMs: SHORT,
      inject: () => Promise.all([postgres, redis].map((part) => privateServer('kill', part.folder))),
      heal: () => Promise.all([postgres, redis].map((part) => part.start())),
    },
    {
      name: 'first server killed while PostgreSQL is stopped', away: [0], holdMs: SHORT,
      async inject() {
        await privateServer('pause', postgres.folder);
        await sleep(200);
        await servers[0].stop('SIGKILL');
      },
      async heal() {
        await privateServer('resume', postgres.folder);
        await servers[0].start();
      },
    },
    moveClock(clocks[0], 'clock of the first server an hour ahead', HOUR),
    moveClock(clocks[1], 'clock of the second server an hour back', -HOUR),
    ...networkFaults(ways),
  ];
  // PostgreSQL may have given up in the meantime.
  const startAgain = () => eventually('PostgreSQL runs', () => postgres.start().then(() => true, () => false), 10);
  if (disk) faults.push(fillDisk(disk, "PostgreSQL's disk full", startAgain));
  return faults;
}
