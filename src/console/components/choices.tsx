/** Multiple choice with checkboxes, and single choice with descriptions. */
import type { ComponentChildren } from 'preact';

export interface Choice<Value extends string = string> {
  readonly value: Value;
  readonly label: ComponentChildren;
  readonly detail?: ComponentChildren;
  /** Reason why it is disabled; absent when it is enabled. */
  readonly whyNot?: string | undefined;
}

interface ManyProps {
  readonly id: string;
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly chosen: readonly string[];
  readonly isDisabled?: boolean;
  readonly none?: ComponentChildren;
  readonly onChange: (chosen: string[]) => void;
}

export function ChooseMany({ id, label, choices, chosen, isDisabled, none, onChange }: ManyProps) {
  return (
    <fieldset class="choices" id={id} disabled={isDisabled}>
      <legend>{label}</legend>
      {choices.length === 0 && <p class="fine">{none}</p>}
      {choices.map(({ value, label, detail }) => (
        <label key={value}>
          <input
            type="checkbox"
            value={value}
            checked={chosen.includes(value)}
            onChange={({ currentTarget }) =>
              onChange(currentTarget.checked ? [...chosen, value] : chosen.filter((other) => other !== value))
            }
          />
          <span>
            {label}
            {detail && <span class="fine">{detail}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

interface OneProps<Value extends string> {
  readonly id: string;
  readonly label: string;
  readonly choices: readonly Choice<Value>[];
  readonly chosen: Value | null;
  readonly isDisabled?: boolean;
  readonly onChange: (chosen: Value) => void;
}

export function ChooseOne<Value extends string>({ id, label, choices, chosen, isDisabled, onChange }: OneProps<Value>) {
  return (
    <fieldset class="choices" id={id} disabled={isDisabled}>
      <legend>{label}</legend>
      {choices.map(({ value, label, detail, whyNot }) => (
        <label key={value}>
          <input
            type="radio"
            name={id}
            value={value}
            checked={chosen === value}
            disabled={whyNot !== undefined}
            onChange={() => onChange(value)}
          />
          <span>
            {label}
            {detail && <span class="fine">{detail}</span>}
            {whyNot && <span class="fine">{whyNot}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
