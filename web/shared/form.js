// Forms: fields with their labels and faults, buttons, and what happens between pressing one and the answer.
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';

// A fault is read out when it comes, and again with its field when that gets the focus.
export function Field({ id, name, label, value, onInput, hint, problem, children, ...input }) {
  const place = id ?? `field-${name}`;
  return html`
    <div class=${problem ? 'field wrong' : 'field'}>
      <label for=${place}>${label}</label>
      <div class="entry">
        <input id=${place} name=${name} value=${value} onInput=${(event) => onInput(event.target.value)}
          aria-invalid=${problem ? 'true' : undefined}
          aria-describedby=${hint ? `${place}-hint ${place}-wrong` : `${place}-wrong`} ...${input} />
        ${children}
      </div>
      ${hint && html`<p class="hint" id=${`${place}-hint`}>${hint}</p>`}
      <p class="problem" id=${`${place}-wrong`} role="status">${problem}</p>
    </div>`;
}

// A password that can be looked at while it is typed, so that nobody must type it twice.
export function PasswordField({ say, ...field }) {
  const [shown, setShown] = useState(false);
  return html`
    <${Field} ...${field} type=${shown ? 'text' : 'password'} autocapitalize="none" spellcheck=${false}>
      <button class="reveal" type="button" aria-label=${say(shown ? 'hidePassword' : 'showPassword')}
        onClick=${() => setShown(!shown)}>${say(shown ? 'hide' : 'show')}</button>
    <//>`;
}

// Stays where it is when it cannot be pressed, so that the keyboard's focus is not lost.
export function Button({ kind, disabled, onPress, button, type = 'button', label, children }) {
  return html`
    <button class=${kind} type=${type} ref=${button} aria-disabled=${disabled ? 'true' : undefined} aria-label=${label}
      onClick=${(event) => {
        if (disabled) event.preventDefault();
        else onPress?.();
      }}>${children}</button>`;
}

// message: {tone: 'good' | 'calm' | 'bad', key, values}
export function Message({ message, say }) {
  return html`<p class=${`message ${message?.tone ?? ''}`} role="status">${message && say(message.key, message.values)}</p>`;
}

// What a form holds and goes through.
//   check(values)   {field: key of the words that say what is wrong}, empty when nothing is
//   send(values)    talks to the server; gives a message, or nothing when the page has moved on
//   explain(error)  {wrong: {field: key}} or {message}; may also say clear: [fields to empty]
export function useForm(first, { check = () => ({}), send, explain }) {
  const [values, setValues] = useState(first);
  const [wrong, setWrong] = useState({});
  const [message, setMessage] = useState(null);
  const [underWay, setUnderWay] = useState(false);
  const [focusOn, setFocusOn] = useState(null); // {field}, a new one for each fault
  const busy = useRef(false); // at once, where a state would let a fast second press through
  const form = useRef();

  useEffect(() => {
    if (focusOn) form.current?.elements[focusOn.field]?.focus();
  }, [focusOn]);

  const change = (name, value) => {
    setValues((before) => ({ ...before, [name]: value }));
    setWrong(({ [name]: gone, ...others }) => others);
  };
  const clear = (...names) => setValues((before) => ({ ...before, ...Object.fromEntries(names.map((name) => [name, ''])) }));
  const refuse = ({ wrong: faults = {}, message: why = null, clear: emptied = [] }) => {
    setWrong(faults);
    setMessage(why);
    clear(...emptied);
    const field = [...(form.current?.elements ?? [])].find(({ name }) => name in faults)?.name ?? emptied[0];
    if (field) setFocusOn({ field });
  };
  const submit = async (event) => {
    event.preventDefault();
    if (busy.current) return;
    const faults = check(values);
    if (Object.keys(faults).length) {
      refuse({ wrong: faults });
      return;
    }
    busy.current = true;
    setUnderWay(true);
    setWrong({});
    setMessage(null);
    try {
      setMessage((await send(values)) ?? null);
    } catch (refused) {
      refuse(explain(refused));
    } finally {
      busy.current = false;
      setUnderWay(false);
    }
  };
  // What a field of the form needs to be one.
  const field = (name, say) => ({
    name,
    value: values[name],
    onInput: (value) => change(name, value),
    problem: wrong[name] && say(wrong[name]),
  });
  return { values, message, underWay, field, clear, bind: { ref: form, onSubmit: submit, noValidate: true } };
}
