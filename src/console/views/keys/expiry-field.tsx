/** Expiry of a key: never, after some days, or on a chosen date. */
import { Select } from '../../../pages/components/select-field.tsx';
import { describedBy, FieldFrame } from '../../../pages/components/field.tsx';
import type { CustomProps } from '../../components/form-fields.tsx';
import { exactTime } from '../../components/format.ts';

export interface Expiry {
  /** Number of days, or a keyword. */
  readonly choice: string;
  /** Date of the choice `date`: 2027-01-31. */
  readonly date: string;
}

const DAY_MS = 86_400_000;
const DAYS = ['30', '90', '365'];

export const NEVER: Expiry = { choice: 'never', date: '' };
export const AS_IT_IS: Expiry = { choice: 'keep', date: '' };

/** Returns the API's value: null for never, undefined for unchanged. The API refuses a missing date. */
export function expiryTime({ choice, date }: Expiry, now = Date.now()): string | null | undefined {
  if (choice === 'keep') return undefined;
  if (choice === 'never') return null;
  if (choice !== 'date') return new Date(now + Number(choice) * DAY_MS).toISOString();
  const end = new Date(`${date}T23:59:59`);
  return Number.isNaN(end.getTime()) ? '' : end.toISOString();
}

interface ExpiryFieldProps extends CustomProps<Expiry> {
  /** Current expiry; absent for a new key. */
  readonly present?: string | null;
}

export function ExpiryField({ value: expiry, present, errorOf, set }: ExpiryFieldProps) {
  const error = errorOf('expiresAt');
  const time = expiryTime(expiry);
  const hint = time ? `Refused from ${exactTime(time)} on.` : undefined;
  const isDate = expiry.choice === 'date';
  const keep =
    present === undefined
      ? []
      : [{ value: 'keep', label: present === null ? 'Unchanged: never' : `Unchanged: ${exactTime(present)}` }];
  return (
    <FieldFrame id="key-expiry" label="Expires" hint={hint} error={error}>
      <div class={isDate ? 'pair' : undefined}>
        <Select
          id="key-expiry"
          value={expiry.choice}
          describedBy={describedBy('key-expiry', hint)}
          isInvalid={error !== null && !isDate}
          choices={[
            ...keep,
            ...(present === null ? [] : [{ value: 'never', label: 'Never' }]),
            ...DAYS.map((days) => ({ value: days, label: `In ${days} days` })),
            { value: 'date', label: 'At the end of a day' },
          ]}
          onChoose={(choice) => set({ ...expiry, choice })}
        />
        {isDate && (
          <input
            id="key-expiry-date"
            type="date"
            aria-label="Last day"
            value={expiry.date}
            aria-invalid={error ? 'true' : undefined}
            onInput={({ currentTarget }) => set({ ...expiry, date: currentTarget.value })}
          />
        )}
      </div>
    </FieldFrame>
  );
}
