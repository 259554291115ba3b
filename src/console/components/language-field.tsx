import { SelectField } from '../../pages/components/select-field.tsx';
import { languages } from './languages.ts';

interface LanguageFieldProps {
  readonly id: string;
  /** Empty for none. */
  readonly value: string;
  /** Label of no language. */
  readonly none: string;
  /** Says which texts it is for, and what applies without one. */
  readonly hint: string;
  readonly onChoose: (locale: string) => void;
}

/** Language of a person's mails. */
export function LanguageField(props: LanguageFieldProps) {
  return <SelectField {...props} label="Language" choices={languages()} />;
}
