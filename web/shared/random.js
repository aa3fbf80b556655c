// Random numbers that nobody can guess. (crypto.randomUUID exists only on https and localhost; a page may also be
// opened by address in a local network.)

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

export const randomSecret = () => hex(crypto.getRandomValues(new Uint8Array(16)));
