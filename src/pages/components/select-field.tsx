import { ChevronDown } from 'lucide';
import type { ComponentChildren } from 'preact';
import { describedBy, FieldFrame } from './field.tsx';
import { Icon } from './icon.tsx';

export interface SelectChoice {
  readonly value: string;
  readonly label: string;
  /** Language of the label if not the page's. */
  readonly lang?: string;
}

interface SelectFieldProps {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly choices: readonly SelectChoice[];
  /** Label of the empty choice; absent if a choice is required. */
  readonly none?: string;
  readonly autocomplete?: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | null;
  onChoose(value: string): void;
}

export function SelectField(props: SelectFieldProps) {
  const { id, label, value, choices, none, autocomplete, hint, error = null, onChoose } = props;
  return (
    <FieldFrame {...{ id, label, hint, error }}>
      <Select
        id={id}
        value={value}
        choices={choices}
        none={none}
        autocomplete={autocomplete}
        describedBy={describedBy(id, hint)}
        isInvalid={error !== null}
        onChoose={onChoose}
      />
    </FieldFrame>
  );
}

interface SelectProps {
  readonly id?: string;
  /** Accessible name when no visible label exists. */
  readonly label?: string;
  readonly value: string;
  readonly choices: readonly SelectChoice[];
  readonly none?: string;
  readonly autocomplete?: string;
  readonly describedBy?: string;
  readonly isInvalid?: boolean;
  readonly isSmall?: boolean;
  /** Called when the pointer or the focus reaches it, before it opens. */
  readonly onNear?: (() => void) | undefined;
  onChoose(value: string): void;
}

export function Select(props: SelectProps) {
  const { id, label, value, choices, none, autocomplete, describedBy, isInvalid, isSmall, onNear, onChoose } = props;
  return (
    <span class={isSmall ? 'select small' : 'select'} onPointerEnter={onNear} onFocusIn={onNear}>
      <select
        id={id}
        name={id}
        value={value}
        autocomplete={autocomplete as 'on'}
        aria-label={label}
        aria-describedby={describedBy}
        aria-invalid={isInvalid ? 'true' : undefined}
        onChange={(event) => onChoose(event.currentTarget.value)}
      >
        {none !== undefined && (
          <option value="" selected={value === ''}>
            {none}
          </option>
        )}
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value} lang={choice.lang} selected={choice.value === value}>
            {choice.label}
          </option>
        ))}
      </select>
      <Icon of={ChevronDown} size={16} />
    </span>
  );
}
