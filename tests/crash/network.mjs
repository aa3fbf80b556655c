// Cuts connections on the loopback with nftables, in a table of our own that is gone when the test ends. Packets are
// dropped (a cable pulled out) or refused (a port that nobody listens on), for one address and port and no others.
import { execFileSync } from 'node:child_process';

const TABLE = `tickettock_test_${process.pid}`;

function nft(text) {
  execFileSync('nft', ['-f', '-'], { input: text, stdio: ['pipe', 'pipe', 'pipe'] });
}

let table = null;

function make() {
  try {
    nft(`table ip ${TABLE} { chain cuts { type filter hook input priority 0; policy accept; }; }`);
    process.on('exit', () => nft(`delete table ip ${TABLE}`));
    return true;
  } catch {
    return false; // not root, or a container without the capability NET_ADMIN
  }
}

export function canCut() {
  table ??= make();
  return table;
}

/** how: 'drop' or 'refuse'. Connections that exist feel it as well as new ones. */
export function cut({ address, port }, how) {
  const verdict = how === 'drop' ? 'drop' : 'reject with tcp reset';
  nft(`add rule ip ${TABLE} cuts ip daddr ${address} tcp dport ${port} ${verdict}
       add rule ip ${TABLE} cuts ip saddr ${address} tcp sport ${port} ${verdict}`);
}

export function mendAll() {
  nft(`flush chain ip ${TABLE} cuts`);
}
