/** Form fields from a list: each has a kind, the name of its value and a label. */
import { type ComponentChildren, Fragment, type VNode } from 'preact';
import { Checkbox } from '../../pages/components/checkbox.tsx';
import { EmailField, Field, FieldError } from '../../pages/components/field.tsx';
import { type Choice, ChooseMany, ChooseOne } from './choices.tsx';
import type { ErrorOf } from './field-errors.ts';
import { TextArea } from './text-area.tsx';
import type { Form } from './use-form.ts';

interface Labelled {
  readonly id: string;
  readonly label: string;
}

interface Typed extends Labelled {
  readonly hint?: ComponentChildren;
  readonly placeholder?: string;
}

/** `identifier` and `url` are typed without capitals and spelling. */
interface TextInput extends Typed {
  readonly kind: 'text' | 'identifier' | 'url' | 'email' | 'password' | 'code';
  readonly maxLength?: number;
  /** Shown instead of the value, such as a suggestion. */
  readonly shown?: string;
  /** Corrects what is typed. */
  readonly clean?: (text: string) => string;
}

interface TextAreaInput extends Typed {
  readonly kind: 'textarea';
  readonly rows?: number;
}

interface CheckboxInput extends Labelled {
  readonly kind: 'checkbox';
}

interface ChoiceInput<Value extends string> extends Labelled {
  readonly kind: 'choice';
  readonly choices: readonly Choice<Value>[];
}

interface ChoicesInput extends Labelled {
  readonly kind: 'choices';
  readonly choices: readonly Choice[];
  /** Shown without choices. */
  readonly none?: string;
  readonly clean?: (chosen: string[]) => string[];
}

export interface CustomProps<Value> {
  readonly value: Value;
  readonly errorOf: ErrorOf;
  set(value: Value): void;
}

interface CustomInput<Value> {
  readonly kind: 'custom';
  readonly render: (props: CustomProps<Value>) => ComponentChildren;
}

/** Inputs that can edit a value of this type. */
type InputFor<Value> =
  | (string extends Value ? TextInput | TextAreaInput : never)
  | ([Value] extends [boolean] ? CheckboxInput : never)
  | ([Value] extends [string] ? ChoiceInput<Value> : never)
  | ([Value] extends [readonly string[]] ? ChoicesInput : never)
  | CustomInput<Value>;

interface Named<Name> {
  readonly name: Name;
  /** Path in the body, by which the server names it; the name by default. */
  readonly path?: string;
}

/** A field, or content between fields. */
export type FormField<Values extends object> =
  { [Name in keyof Values & string]: Named<Name> & InputFor<Values[Name]> }[keyof Values & string] | VNode | false;

type AnyField = Named<string> &
  (TextInput | TextAreaInput | CheckboxInput | ChoiceInput<string> | ChoicesInput | CustomInput<unknown>);

/** A plain function, so that all errors are assigned before the form asks for the rest. */
export function formFields<Values extends object>(
  form: Form<Values> | undefined,
  fields: readonly FormField<Values>[],
  errorOf: ErrorOf,
): ComponentChildren {
  return fields.map((field) => {
    if (!form || !field || !('kind' in field)) return field as VNode | false;
    const input = field as AnyField;
    const value = (form.values as Readonly<Record<string, unknown>>)[input.name];
    return view(input, { value, errorOf, set: (changed) => form.set({ [input.name]: changed } as Partial<Values>) });
  });
}

function view(field: AnyField, props: CustomProps<unknown>): ComponentChildren {
  const { value, set, errorOf } = props;
  if (field.kind === 'custom') return field.render(props);
  const { id, label, name, path = name } = field;
  const error = errorOf(path);
  switch (field.kind) {
    case 'checkbox':
      return <Checkbox key={id} id={id} label={label} isChecked={value === true} onChange={set} />;
    case 'choice':
      return (
        <Fragment key={id}>
          <ChooseOne id={id} label={label} choices={field.choices} chosen={value as string} onChange={set} />
          <FieldError id={id} error={error} />
        </Fragment>
      );
    case 'choices': {
      const { choices, none, clean = (chosen) => chosen } = field;
      const onChange = (chosen: string[]) => set(clean(chosen));
      return (
        <Fragment key={id}>
          <ChooseMany {...{ id, label, choices, none, onChange }} chosen={value as string[]} />
          <FieldError id={id} error={error} />
        </Fragment>
      );
    }
    case 'textarea': {
      const { rows, placeholder, hint } = field;
      return (
        <TextArea key={id} {...{ id, label, rows, placeholder, hint, error }} value={value as string} onInput={set} />
      );
    }
    default:
      return <TextField key={id} field={field} error={error} {...props} />;
  }
}

const ATTRIBUTES = {
  text: {},
  identifier: { autoCapitalize: 'none', spellcheck: false },
  url: { autoCapitalize: 'none', spellcheck: false },
  email: {},
  password: { type: 'password', autocomplete: 'new-password' },
  code: { class: 'code-input', inputMode: 'numeric', autocomplete: 'one-time-code', autoFocus: true },
} as const;

interface TextFieldProps extends Omit<CustomProps<unknown>, 'errorOf'> {
  readonly field: TextInput;
  readonly error: string | null;
}

function TextField({ field, error, value, set }: TextFieldProps) {
  const { kind, id, label, hint, placeholder, maxLength, shown, clean = (text) => text } = field;
  const props = {
    autocomplete: 'off',
    ...ATTRIBUTES[kind],
    ...(maxLength !== undefined && { maxLength }),
    ...{ id, label, hint, placeholder, error },
    value: shown ?? (value as string),
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
      set((currentTarget.value = clean(currentTarget.value))),
  };
  return kind === 'email' ? <EmailField {...props} /> : <Field {...props} />;
}
