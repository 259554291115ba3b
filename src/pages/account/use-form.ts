/** Form state: values, field errors, and saving as a whole. */
import { useLayoutEffect, useState } from 'preact/hooks';
import type { Outcome } from '../browser/api.ts';
import { useAccount } from './account-context.tsx';

export interface Form<Values extends object> {
  readonly values: Values;
  readonly errors: { readonly [Name in keyof Values]?: string };
  readonly isSaving: boolean;
  readonly isChanged: boolean;
  set(changes: Partial<Values>): void;
  /** Sets field errors without a request; an empty object clears them. */
  mark(errors: { readonly [Name in keyof Values]?: string }): void;
  /** @returns whether it was saved; refused fields get the texts of {@link problemOf}. */
  save<T>(send: () => Promise<Outcome<T> | null>): Promise<boolean>;
}

interface FormOptions<Values extends object> {
  /** Keeps unsaved values under this name when the reader opens another part. */
  readonly draft?: string;
  /** Initial values that count as unsaved. */
  readonly suggested?: Partial<Values>;
}

/** @param problemOf returns the text for a field that the API refused, whose own message is for developers. */
export function useForm<Values extends object>(
  initial: Values,
  problemOf: (name: keyof Values & string) => string,
  { draft, suggested = {} }: FormOptions<Values> = {},
): Form<Values> {
  const { drafts } = useAccount();
  const [values, setValues] = useState(() => ({
    ...initial,
    ...suggested,
    ...(draft !== undefined && drafts.get<Partial<Values>>(draft)),
  }));
  const [kept, setKept] = useState(initial);
  const [errors, setErrors] = useState<Form<Values>['errors']>({});
  const [isSaving, setIsSaving] = useState(false);
  const changed = (Object.keys(values) as (keyof Values)[]).filter((name) => values[name] !== kept[name]);
  const isChanged = changed.length > 0;
  useLayoutEffect(() => {
    if (draft === undefined) return;
    drafts.set(draft, isChanged ? Object.fromEntries(changed.map((name) => [name, values[name]])) : null);
  }, [values, kept]);
  return {
    values,
    errors,
    isSaving,
    isChanged,
    set(changes) {
      setValues((before) => ({ ...before, ...changes }));
      const blank = Object.fromEntries(Object.keys(changes).map((name) => [name, undefined]));
      setErrors((before) => ({ ...before, ...blank }));
    },
    mark: setErrors,
    async save(send) {
      if (isSaving) return false;
      setErrors({});
      setIsSaving(true);
      const outcome = await send();
      setIsSaving(false);
      if (outcome?.ok) setKept(values);
      if (outcome === null || outcome.ok) return outcome !== null;
      const refused = outcome.fields.filter((name): name is keyof Values & string => name in values);
      setErrors(Object.fromEntries(refused.map((name) => [name, problemOf(name)])) as Form<Values>['errors']);
      return false;
    },
  };
}

export function orNull(text: string): string | null {
  return text.trim() === '' ? null : text.trim();
}
