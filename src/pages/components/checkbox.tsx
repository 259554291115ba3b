interface CheckboxProps {
  readonly id: string;
  readonly label: string;
  readonly isChecked: boolean;
  onChange(isChecked: boolean): void;
}

export function Checkbox({ id, label, isChecked, onChange }: CheckboxProps) {
  return (
    <label class="checkbox" for={id}>
      <input id={id} type="checkbox" checked={isChecked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}
