import { useEffect, useState } from 'preact/hooks';

const TYPING_MS = 300;

/** Returns a value once it has not changed for a moment, so that typing causes no request a letter. */
export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
