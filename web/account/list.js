// A list that the server keeps: asked for, shown, asked for again.
import { useEffect, useState } from 'preact/hooks';
import { call } from '/static/shared/api.js';

// {items: null while not known, failed, load()}. `stamp`: another one means that the list has changed.
export function useList(path, member, stamp) {
  const [state, setState] = useState({ items: null, failed: false });
  const load = async () => {
    try {
      const items = (await call(path))[member];
      setState({ items, failed: false });
    } catch {
      setState(({ items }) => ({ items, failed: true }));
    }
  };
  useEffect(() => {
    load();
  }, [stamp]);
  return { ...state, load };
}
