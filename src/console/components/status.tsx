/** Status as a coloured dot and a word. */

export type Tone = 'good' | 'warn' | 'bad' | 'calm';

export function Status({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return (
    <span class="status" data-tone={tone}>
      {children}
    </span>
  );
}
