// The machines that a rate needs, and the rate that given machines carry.

import { figure } from "../charts/figure";
import { lineChart } from "../charts/line";
import { foreign, h, section } from "../dom";
import { atLeast, bound, capital, count, counted, type Format, interval, list, machineCount, money, NOT_KNOWN, rate, ratio, sentence, share, whole } from "../format";
import type {
  DayDocument, FleetCapacityDocument, FleetDocument, GrowthDocument, HourDocument, PlanCostDocument, PlanDocument, StopDocument, TierPlanDocument,
} from "../generated/page";
import { number, table, text } from "../table";
import { limitName } from "../words";

/** How many limits after the first are named, as in the text report. */
const THEN = 3;

const machinesOf = (amount: number | null, tier: string): string => `${machineCount(amount)} machine${amount === 1 ? "" : "s"} of ${tier}`;

const paragraph = (said: string): HTMLElement => h("p", {}, foreign(said));

function needs(tiers: readonly TierPlanDocument[]): HTMLElement {
  return table("Machines of each tier", {
    columns: [text("tier"), number("machines"), number("interval"), number("with a spare"), text("decided by"), number("used most")], count: tiers.length,
    row: (index) => {
      const tier = tiers[index];
      const first = tier?.needs[0];
      const least = bound(tier?.at_least ?? false);
      return tier === undefined ? [] : [tier.tier, `${least}${whole(tier.machines)}`, interval(tier.machines_interval, whole),
        `${least}${whole(tier.machines_with_spare)}`, first === undefined ? NOT_KNOWN : limitName(first.limit), share(first?.used_most)];
    },
  });
}

/** Says what a stop is derived from. */
function basis(stop: StopDocument): string {
  const scaled = stop.scaled === null ? "" : `adding machines helped there: it scaled to ${(100 * stop.scaled).toFixed(0)} % of linear`;
  return [stop.seen ? "" : "by what a request takes elsewhere", scaled].filter(Boolean).join("; ");
}

function stops(growth: GrowthDocument | null, title: string): (HTMLElement | null)[] {
  if (growth === null || growth.stops.length === 0) return [];
  return [h("h3", { class: "part" }, title), paragraph(`Growth is followed from ${growth.at}, with ${rate(growth.from_per_sec)}.`), table(title, {
    columns: [text("tier"), text("resource"), number("machines"), number("used"), number("full at"), number("95 % interval"), text("")], count: growth.stops.length,
    row: (index) => {
      const stop = growth.stops[index];
      return stop === undefined ? [] : [stop.tier, `${limitName(stop.limit)}${stop.detail === "" ? "" : ` ${stop.detail}`}`, machineCount(stop.machines), share(stop.used),
        rate(stop.at_per_sec), interval(stop.at_per_sec_interval, count), basis(stop)];
    },
  })];
}

/** Returns the hours, with a null where the file skips some. */
function withGaps(hours: readonly HourDocument[]): { at: number; hour: HourDocument | null }[] {
  const first = hours[0]?.number ?? 0;
  return hours.flatMap((hour, index) => {
    const before = hours[index - 1];
    const isGap = before !== undefined && hour.number > before.number + 1;
    return [...(isGap ? [{ at: before.number - first + 0.5, hour: null }] : []), { at: hour.number - first, hour }];
  });
}

/** Formats the machines of a tier in an hour. */
const inHour = (hour: HourDocument, tier: number): string => `${bound(hour.at_least[tier] ?? false)}${whole(hour.machines[tier])}`;

function day(found: DayDocument): HTMLElement {
  const peak = found.hours.reduce((best, hour) => ((hour.peak_per_sec ?? 0) > (best?.peak_per_sec ?? 0) ? hour : best), found.hours[0]);
  const course = withGaps(found.hours);
  const labels = new Map(course.map(({ at, hour }) => [at, hour?.hour ?? "no row in the file"]));
  const { cost } = found;
  const amount = cost === null ? null : money(cost.currency, cost.currency_leads);
  return figure(lineChart, {
    name: "day", title: "Machines of each hour", height: 220,
    caption: peak === undefined ? "The curve has no hour." : `The hour with the highest rate is ${peak.hour}, with ${rate(peak.peak_per_sec)}.`,
    x: course.map(({ at }) => at), xFormat: (value) => labels.get(value ?? -1) ?? "", xLabel: "hour", format: whole,
    series: found.tiers.map((tier, index) => ({
      label: tier.tier, values: course.map(({ hour }) => hour?.machines[index] ?? null), colour: ["--blue", "--teal", "--purple", "--gold"][index % 4] ?? "--blue", points: true,
    })),
    table: {
      columns: [text("hour"), number("highest rate"), ...found.tiers.map((tier) => number(tier.tier)), ...(amount === null ? [] : [number("cost")])], count: found.hours.length,
      row: (index) => {
        const hour = found.hours[index];
        return hour === undefined ? [] : [hour.hour, rate(hour.peak_per_sec), ...found.tiers.map((_, tier) => inHour(hour, tier)),
          ...(cost === null || amount === null ? [] : [atLeast(amount, hour.cost, cost.without.length > 0 || hour.at_least.includes(true))])];
      },
    },
  }).element;
}

/** Says what the machines of each hour save, and what the sums leave out. */
function sums(found: DayDocument): string[] {
  const hours = found.tiers.map((tier) => (tier.by_hour === null || tier.constant === null ? `${tier.tier} not known`
    : `${tier.tier} ${whole(tier.by_hour)} instead of ${whole(tier.constant)}`));
  return [`Machine-hours with the machines of each hour, instead of those of the peak throughout: ${hours.join(", ")}.`,
    ...(found.cost === null ? [] : [dayCost(found.cost, found.hours.filter((hour) => hour.cost === null).length)]),
    ...(found.missing === 0 ? [] : [`Of ${counted(found.missing, "hour")} between them the file has no row; the sums leave them out.`]),
    ...(found.merges_days ? ["The file returns to hours that it left, as rows of several days do: they are one day, each hour with its highest rate. Times with a date keep days apart."] : [])];
}

/** Says what all hours cost. `unknown` counts the hours in which a tier has no number. */
function dayCost(cost: NonNullable<DayDocument["cost"]>, unknown: number): string {
  const amount = money(cost.currency, cost.currency_leads);
  const [byHour, constant] = [cost.by_hour ?? 0, cost.constant ?? 0];
  // With hours left out, a lower sum is no saving.
  const less = constant > 0 && unknown === 0 ? `, ${(100 * (1 - byHour / constant)).toFixed(0)} % less` : "";
  const missing = unknown === 0 ? "" : ` The first sum leaves out ${counted(unknown, "hour")}: a tier has no number there.`;
  const [is, it] = cost.without.length === 1 ? ["is", "it has"] : ["are", "they have"];
  const without = cost.without.length === 0 ? "" : ` ${list(cost.without)} ${is} left out: ${it} no price or no number.`;
  const least = bound(cost.at_least);
  return `They cost ${least}${amount(cost.by_hour)} instead of ${least}${amount(cost.constant)}${less}.${missing}${without}`;
}

function price(cost: PlanCostDocument): string {
  const amount = money(cost.currency, cost.currency_leads);
  const least = bound(cost.at_least);
  return [...(cost.per_hour === null ? [] : [`They cost ${least}${amount(cost.per_hour)} per hour: ${least}${amount(cost.per_million)} per million requests.`]),
    ...(cost.without.length === 0 ? [] : [`Without a price or a number: ${cost.without.join(", ")}.`])].join(" ");
}

/** Says how many machines of each tier the rate needs, and for which tiers that is not known. */
function required(found: PlanDocument): string {
  const known = found.tiers.filter((tier) => tier.machines !== null)
    .map((tier) => `${tier.at_least ? "at least " : ""}${counted(tier.machines ?? 0, "machine")} of ${tier.tier}`);
  const unknown = found.tiers.filter((tier) => tier.machines === null).map((tier) => tier.tier);
  if (known.length === 0) return "The number of machines is not known.";
  return `${rate(found.target_per_sec)} need ${list(known)}, each used up to ${ratio(found.utilisation)}.`
    + (unknown.length === 0 ? "" : ` How many machines of ${list(unknown)} are needed is not known.`);
}

export function machines(found: PlanDocument): HTMLElement {
  const { cost, growth, what_if: changed } = found;
  // Remarks are those of the plan with the change, doubts those of both plans.
  const doubtsOf = (tiers: readonly TierPlanDocument[]) => tiers.flatMap((tier) => tier.doubts.map((doubt) => `${tier.tier}: ${doubt}`));
  const remarks = [...(changed ?? found).remarks, ...new Set([...doubtsOf(found.tiers), ...doubtsOf(changed?.tiers ?? [])])];
  return section("machines", "Machines", h("p", { class: "lead" }, foreign(required(found))),
    cost === null ? null : paragraph(price(cost)),
    needs(found.tiers),
    changed === null ? null : h("h3", { class: "part" }, foreign(`With ${changed.change}`)),
    changed === null ? null : needs(changed.tiers),
    ...(changed === null ? [] : stops(changed.growth, "Where growth stops then")),
    found.day === null ? null : day(found.day),
    ...(found.day === null ? [] : sums(found.day).map(paragraph)),
    ...stops(growth, "Where growth stops with the measured machines"),
    ...remarks.map((one) => h("p", { class: "note" }, foreign(sentence(capital(one))))));
}

/** A rate with its interval: `811 requests/s (95 % interval 790 to 830)`. */
const within = (format: Format, value: number | null, pair: readonly [number, number] | null): string =>
  `${format(value)}${pair === null ? "" : ` (95 % interval ${interval(pair, count)})`}`;

/** Says what the machines hold, and what limits them first and next. */
function holds(capacity: FleetCapacityDocument): (HTMLElement | null)[] {
  const of = list(capacity.machines.map((tier) => machinesOf(tier.machines, tier.tier)));
  const isOne = capacity.machines.length === 1 && capacity.machines[0]?.machines === 1;
  const stopped = capacity.limits.map((limit) => `${within(rate, limit.per_sec, limit.per_sec_interval)}, stopped by ${limit.tier}: ${limit.text}`);
  const then = stopped.slice(1, 1 + THEN);
  const first = stopped[0];
  return [
    h("p", { class: "lead" }, foreign(first === undefined ? `${of}: it is not known where throughput stops growing.`
      : `${of} ${isOne ? "holds" : "hold"} ${capacity.at_most ? "at most " : ""}${first}.`)),
    then.length === 0 ? null : h("ul", {}, ...then.map((one) => h("li", {}, foreign(`then ${one}`)))),
    capacity.held_per_sec === null ? null : paragraph(`At no more than ${ratio(capacity.utilisation)} of each machine ${isOne ? "it carries" : "they carry"} `
      + `${capacity.at_most ? "at most " : ""}${rate(capacity.held_per_sec)}${capacity.held_by === null ? "" : `; ${capacity.held_by} is the bound`}.`),
    paragraph(`Growth is followed from ${capacity.at}, with ${rate(capacity.from_per_sec)}.`),
  ];
}

export function fleet(found: FleetDocument): HTMLElement {
  const { capacity, what_if: changed } = found;
  return section("machines", "The rate of given machines", ...holds(capacity),
    changed === null ? null : h("h3", { class: "part" }, foreign(`With ${changed.change}`)),
    ...(changed === null ? [] : holds(changed.capacity)),
    ...[...new Set([...capacity.doubts, ...(changed?.capacity.doubts ?? [])])].map((one) => h("p", { class: "note" }, foreign(sentence(capital(one))))));
}
