/** Form state: values, field errors, and saving as a whole. */
import { useState } from 'preact/hooks';
import type { Outcome } from '../browser/api.ts';

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

/**
 * @param problemOf returns the text for a field that the API refused, whose own message is for developers.
 * @param suggested initial values that count as unsaved.
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

export function orNull(text: string): string | null {
  return text.trim() === '' ? null : text.trim();
}
