/** Adds soft hyphens to very long words, such as compounds in names, whose language the reader's client does not know. */

/** At least as long as what fits on a line of a phone's heading. */
const LONG_WORD = /\p{L}{20,}/gu;

const VOWELS = 'aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýÿāăąēėęěīįıōőœūůűųαεηιουωάέήίόύώϊϋаеёиіїоуыэюяє';
/** Consonants that stand for one sound and stay together. */
const SOUNDS = 'sch|ch|ck|ph|qu|sh|sz|cz|rz|th|zh|γκ|μπ|ντ|τσ|τζ';
/** A syllable begins at the last consonant before a vowel. */
const SYLLABLE = new RegExp(
  `(?<=\\p{L})([${VOWELS}])((?:(?![${VOWELS}])\\p{L})*?)((?:${SOUNDS}|(?![${VOWELS}])\\p{L})(?=[${VOWELS}]))`,
  'giu',
);

const SOFT_HYPHEN = '\u00ad';

/** Returns the text with places for hyphens, invisible where no line ends. Addresses stay as they are, to be copied. */
export function hyphenated(text: string): string {
  return text.replace(/\S+/g, (part) =>
    /[@/]/.test(part) ? part : part.replace(LONG_WORD, (word) => word.replace(SYLLABLE, `$1$2${SOFT_HYPHEN}$3`)),
  );
}
