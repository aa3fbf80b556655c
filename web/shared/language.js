// Korean and English: which one, and how to say things in it.
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { html } from 'htm/preact';
import { lasting } from '/static/shared/memory.js';
import { words as commonWords } from '/static/shared/words.js';

const LANGUAGES = [
  { code: 'en', short: 'EN', name: 'English' },
  { code: 'ko', short: '한국어', name: '한국어' },
];
const MEMORY_KEY = 'tickettock.language';

function firstLanguage() {
  const known = (code) => LANGUAGES.some((language) => language.code === code);
  const chosen = lasting.get(MEMORY_KEY);
  if (known(chosen)) return chosen;
  const wanted = (navigator.languages ?? [navigator.language]).map((tag) => tag.slice(0, 2).toLowerCase());
  return wanted.find(known) ?? 'en';
}

// words: {en: {key: 'text with {values}' or {one: '…', other: '…'} chosen by {count}}, ko: {…}}
function speaker(language, words) {
  const numbers = new Intl.NumberFormat(language);
  const plurals = new Intl.PluralRules(language);
  const show = (value) => (typeof value === 'number' ? numbers.format(value) : value);
  return (key, values = {}) => {
    const entry = words[language][key] ?? commonWords[language][key];
    const text = typeof entry === 'string' ? entry : (entry[plurals.select(values.count)] ?? entry.other);
    return text.replace(/\{(\w+)\}/g, (_, name) => show(values[name]));
  };
}

// {code, say(key, values), choose(code)}
export function useLanguage(words) {
  const [code, setCode] = useState(firstLanguage);
  useLayoutEffect(() => {
    document.documentElement.lang = code;
  }, [code]);
  return useMemo(() => ({
    code,
    say: speaker(code, words),
    choose: (chosen) => {
      lasting.set(MEMORY_KEY, chosen);
      setCode(chosen);
    },
  }), [code, words]);
}

export function LanguageSwitch({ language }) {
  return html`
    <div class="languages" role="group" aria-label="Language · 언어">
      ${LANGUAGES.map(({ code, short, name }) => html`
        <button key=${code} type="button" lang=${code} aria-label=${name} aria-pressed=${String(code === language.code)}
          onClick=${() => language.choose(code)}>${short}</button>`)}
    </div>`;
}
