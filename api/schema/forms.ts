import { text } from './helpers.ts';

/*
 * Texts that have a form. What does not fit is refused at admission by the name of its field; what it reaches is quoted
 * all the same (src/world/quote), because objects of before keep values that no longer fit. Short, because some stand in
 * the largest CRD a dozen times.
 */

/** A name or an address of a host. */
export const host = (description: string) =>
  text(description)
    .max(253)
    .regex(/^[\w:][\w.:-]*$/);

/** A name of DNS, also with a dot at its end. */
export const domain = (description: string) =>
  text(description)
    .max(253)
    .regex(/^\w[\w.-]*$/);

export const httpUrl = (description: string) =>
  text(description)
    .max(512)
    .regex(/^https?:\/\/[\w.:[\]-]+(\/\S*)?$/);

/** A host and its port, as one text. */
export const hostPort = (description: string) =>
  text(description)
    .min(1)
    .max(261)
    .regex(/^[\w.:[\]-]+$/);

/** A name that people choose: one line, without blanks at its ends. */
export const title = (description: string, max: number) =>
  text(description)
    .min(1)
    .max(max)
    .regex(/^\S(.*\S)?$/);

/** A name in Ceph: its keyrings have no escapes. */
export const cephName = (description: string) =>
  text(description)
    .max(63)
    .regex(/^[\w.][\w.-]*$/);

/** Letters, digits, dots, underscores and dashes. */
export const plainName = (description: string, max = 63) =>
  text(description)
    .max(max)
    .regex(/^\w[\w.-]*$/);

/** As LVM takes it. */
export const volumeGroup = (description: string) =>
  text(description)
    .max(63)
    .regex(/^[\w+.][\w+.-]*$/);

/** A path of a node, in plain letters. */
export const nodePath = (description: string) =>
  text(description)
    .max(1024)
    .regex(/^\/[\w@%+=,./-]*$/);

/** `host:/export`, with options of mount after a blank if there are any. */
export const nfsShare = (description: string) =>
  text(description)
    .max(1024)
    .regex(/^[^\s#]+:\/\S*( .*)?$/);
