/** One line of text that people write and read: nothing in it that cannot be seen or that turns the text around it. */

/**
 * What is invisible and yet needed: joiners after a vowel sign or virama, also at the end of a word (Malayalam names end
 * so), between letters of the scripts that have them (Persian), and within emoji; one variation selector after what it
 * chooses a form of; and the flags of England, Scotland and Wales, spelt in invisible letters.
 */
const NEEDED =
  /(?<=\p{M})[\u200c\u200d]|(?<=[\p{Lo}\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])[\u200c\u200d](?=[\p{Lo}\p{Extended_Pictographic}])|(?<=[\p{L}\p{N}\p{P}\p{S}])\p{Variation_Selector}(?!\p{Variation_Selector})|\p{RGI_Emoji_Tag_Sequence}/gv;

/**
 * Controls and line ends, bidirectional overrides and other invisible formatting, letters and signs that are blank, halves
 * of a surrogate pair and private use.
 */
const UNFIT = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/v;

/** UTF-16 units that a code point can come from: four at most are composed into one, of two units each. */
const MAX_UNITS = 8;

/**
 * Trimmed and NFC.
 *
 * @param max how long it may be, in code points.
 * @returns null for what is blank, too long or no plain line.
 */
export function plainLine(text: string, max: number): string | null {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed.length > max * MAX_UNITS) return null;
  const line = trimmed.normalize('NFC');
  if ([...line].length > max || UNFIT.test(line.replace(NEEDED, ''))) return null;
  return line;
}
