/** Colour field that explains adjustments for contrast. */
import { accentPalette, parseHex, toHex } from '../../../core/accent.ts';
import { describedBy, FieldFrame } from '../../../pages/components/field.tsx';
import { Button } from '../../../pages/components/button.tsx';

/** Default of the pages; the picker needs an initial value. */
const DEFAULT_ACCENT = '#2853d8';

interface AccentFieldProps {
  readonly id: string;
  readonly value: string;
  readonly error: string | null;
  readonly onChange: (value: string) => void;
}

export function AccentField({ id, value, error, onChange }: AccentFieldProps) {
  const color = parseHex(value.trim());
  const hint = hintFor(value.trim());
  return (
    <FieldFrame id={id} label="Accent colour" hint={hint} error={error}>
      <div class="accent">
        <input
          type="color"
          id={`${id}-picker`}
          aria-label="Pick the accent colour"
          value={color ? toHex(color) : DEFAULT_ACCENT}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
        <input
          id={id}
          value={value}
          placeholder={DEFAULT_ACCENT}
          maxLength={7}
          autocomplete="off"
          spellcheck={false}
          aria-describedby={describedBy(id, hint)}
          aria-invalid={error ? 'true' : undefined}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
        {value !== '' && (
          <Button look="small" id={`${id}-clear`} onClick={() => onChange('')}>
            Use the default
          </Button>
        )}
      </div>
    </FieldFrame>
  );
}

/** Explains where pages adjust a colour for contrast. */
function hintFor(value: string): string {
  const palette = accentPalette(value);
  const given = parseHex(value);
  if (!palette || !given) return 'For buttons and links. Pages adjust it where it would be hard to read.';
  const moved = [
    palette.onLight.accent !== toHex(given) && `${palette.onLight.accent} in light`,
    palette.onDark.accent !== toHex(given) && `${palette.onDark.accent} in dark`,
  ].filter(Boolean);
  if (moved.length > 0) return `Contrast would be too low there: buttons use ${moved.join(' and ')}.`;
  return `Buttons use it as it is; links are ${palette.onLight.ring} in light and ${palette.onDark.ring} in dark, for readability.`;
}
