// What can be said about an entry without asking the server. Each gives the key of the words that say what is
// wrong, or nothing.

export const PASSWORD_MIN = 8; // bytes of UTF-8; bcrypt reads no further than the most
export const PASSWORD_MAX = 72;

export const emailFault = (text) => (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text.trim()) ? undefined : 'wrong.email');

export function newPasswordFault(text) {
  const { length } = new TextEncoder().encode(text);
  if (length < PASSWORD_MIN) return 'wrong.passwordShort';
  return length > PASSWORD_MAX ? 'wrong.passwordLong' : undefined;
}

export const passwordFault = (text) => (text === '' ? 'wrong.passwordMissing' : undefined);
export const nameFault = (text) => (text.trim() === '' ? 'wrong.nameMissing' : undefined);

// {field: fault} without those that have none.
export const faults = (all) => Object.fromEntries(Object.entries(all).filter(([, fault]) => fault));
