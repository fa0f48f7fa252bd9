#!/usr/bin/env node
"use strict";
// Asks everyone three questions at 9:15 in their own time zone, and is silent on Fridays.

const QUESTIONS = ["What did you finish?", "What is in your way?", "Who should know?"];
const QUIET_DAY = 5; // Friday: nobody read the answers, we measured

function dueNow(person, now) {
  const local = new Date(now.getTime() + person.offsetMinutes * 60_000);
  if (local.getUTCDay() === QUIET_DAY || person.holidayUntil > now) return false;
  return local.getUTCHours() === 9 && local.getUTCMinutes() === 15;
}

/** One message per person; an answer of "nothing" twice in a row offers a walk round the block. */
function nextMessage(person) {
  const [last, before] = person.answers.slice(-2).reverse();
  if (last === "nothing" && before === "nothing") return "Would you like to walk round the block with Bertie?";
  return QUESTIONS[person.answers.length % QUESTIONS.length];
}

module.exports = { dueNow, nextMessage, QUESTIONS };
