import { useState } from 'preact/hooks';

export interface Form<Values extends object> {
  readonly values: Values;
  set(changes: Partial<Values>): void;
}

export function useForm<Values extends object>(initial: Values): Form<Values> {
  const [values, setValues] = useState(initial);
  return { values, set: (changes) => setValues((before) => ({ ...before, ...changes })) };
}
