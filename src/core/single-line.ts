/** Validates one line of text: nothing invisible, and nothing that reorders the text around it. */

/**
 * Invisible characters that are needed: joiners after a vowel sign or virama, also at the end of a word (Malayalam
 * names), between letters of the scripts that have them (Persian), and within emoji; one variation selector after its
 * character; and the tag characters in the flags of England, Scotland and Wales.
 */
const NEEDED =
  /(?<=\p{M})[\u200c\u200d]|(?<=[\p{Lo}\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])[\u200c\u200d](?=[\p{Lo}\p{Extended_Pictographic}])|(?<=[\p{L}\p{N}\p{P}\p{S}])\p{Variation_Selector}(?!\p{Variation_Selector})|\p{RGI_Emoji_Tag_Sequence}/gv;

/** Controls, line ends, bidirectional overrides, other invisible or blank characters, lone surrogates, private use. */
const UNFIT = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/v;

/** Most UTF-16 units per resulting code point: NFC composes at most four code points, of two units each, into one. */
const MAX_UNITS = 8;

/** Returns the text trimmed and in NFC; null if blank, longer than `max` code points or not a plain line. */
export function singleLine(text: string, max: number): string | null {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed.length > max * MAX_UNITS) return null;
  const line = trimmed.normalize('NFC');
  if ([...line].length > max || UNFIT.test(line.replace(NEEDED, ''))) return null;
  return line;
}
