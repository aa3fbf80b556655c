// Where the account is signed in, and ending it there or everywhere.
import { html } from 'htm/preact';
import { useRef, useState } from 'preact/hooks';
import { call } from '/static/shared/api.js';
import { Button, Message } from '/static/shared/form.js';
import { bad, good, whyNot } from '/static/shared/reasons.js';
import { deviceName } from '/static/account/device.js';
import { useList } from '/static/account/list.js';

const SESSIONS = '/api/v1/users/me/sessions';

function Session({ session, device, when, onEnd, underWay, say }) {
  return html`
    <li>
      <p><strong>${device}</strong> ${session.current && html`<span class="badge">${say('thisBrowser')}</span>`}</p>
      <p class="hint"><span>${say('lastUsed', { when })}</span> <span>${session.ip}</span></p>
      ${!session.current && html`<${Button} kind="plain small" disabled=${underWay} onPress=${onEnd}
        label=${say('signOutThere', { device, when })}>${say('signOut')}<//>`}
    </li>`;
}

// onLeave(): this session has ended too.
export function Sessions({ stamp, onLeave, language }) {
  const { say, code } = language;
  const { items, failed, load } = useList(SESSIONS, 'sessions', stamp);
  const [message, setMessage] = useState(null);
  const [underWay, setUnderWay] = useState(false);
  const heading = useRef();
  const moment = (time) => new Date(time).toLocaleString(code, { dateStyle: 'medium', timeStyle: 'short' });

  const attempt = async (work) => {
    setUnderWay(true);
    setMessage(null);
    try {
      await work();
    } catch (refused) {
      setMessage(whyNot(refused));
    } finally {
      setUnderWay(false);
    }
  };
  const end = (session, device) => attempt(async () => {
    await call(`${SESSIONS}/${encodeURIComponent(session.id)}`, { method: 'DELETE' });
    await load();
    heading.current.focus(); // its button is gone
    setMessage(good('signedOutThere', { device }));
  });
  const endAll = () => attempt(async () => {
    await call(SESSIONS, { method: 'DELETE' });
    onLeave();
  });

  return html`
    <section class="panel sessions" aria-labelledby="sessions-title">
      <h2 id="sessions-title" ref=${heading} tabindex="-1">${say('sessions')}</h2>
      <ul class="entries">${(items ?? []).map((session) => {
        const device = deviceName(session.userAgent, say);
        return html`<${Session} key=${session.id} session=${session} device=${device} when=${moment(session.lastUsedAt)}
          onEnd=${() => end(session, device)} underWay=${underWay} say=${say} />`;
      })}</ul>
      <${Message} message=${failed ? bad('listUnknown') : message} say=${say} />
      ${failed && html`<${Button} kind="plain" onPress=${load}>${say('again')}<//>`}
      <${Button} kind="plain" disabled=${underWay} onPress=${endAll}>${say('signOutEverywhere')}<//>
      <p class="hint">${say('signOutEverywhereHint')}</p>
    </section>`;
}
