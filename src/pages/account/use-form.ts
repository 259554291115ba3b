/** A form that is saved as a whole: what stands in it, what is wrong with it, and whether it is on its way. */
import { useState } from 'preact/hooks';
import type { Outcome } from '../browser/api.ts';

export interface Form<Values extends object> {
  readonly values: Values;
  readonly errors: { readonly [Name in keyof Values]?: string };
  readonly isSaving: boolean;
  /** Something stands in it that is not saved. */
  readonly isChanged: boolean;
  set(changes: Partial<Values>): void;
  /** Marks fields without asking the server; nothing is marked by an empty object. */
  mark(errors: { readonly [Name in keyof Values]?: string }): void;
  /** @returns whether it was saved; what was refused is marked in the words of {@link problemOf}. */
  save<T>(send: () => Promise<Outcome<T> | null>): Promise<boolean>;
}

/**
 * @param problemOf says what is wrong with a field that the API refused; its own words are for programs.
 * @param suggested stands in the form from the beginning, and is not saved yet.
 */
export function useForm<Values extends object>(
  initial: Values,
  problemOf: (name: keyof Values & string) => string,
  suggested: Partial<Values> = {},
): Form<Values> {
  const [values, setValues] = useState({ ...initial, ...suggested });
  const [kept, setKept] = useState(initial);
  const [errors, setErrors] = useState<Form<Values>['errors']>({});
  const [isSaving, setIsSaving] = useState(false);
  return {
    values,
    errors,
    isSaving,
    isChanged: Object.keys(values).some((name) => values[name as keyof Values] !== kept[name as keyof Values]),
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

/** What the API takes for an empty field. */
export function orNull(text: string): string | null {
  return text.trim() === '' ? null : text.trim();
}
