//! Random changes at the lines of every card: the model does not panic, reports, and acts at the
//! times that it announces.

use proptest::prelude::*;

use super::{
    ad53xx_chip, ad9834, dac34h84, ddsbus, fastino, hmc542b, mirny, novogorny, phaser, sampler, serial_dac, shuttler,
    songbird, trf372017, urukul,
};
use crate::model::{Change, Model, Outbox};
use crate::signal::{Ns, Signal, Square};

fn urukul_of(chip: urukul::Chip, revision: urukul::Revision, servo: Option<urukul::ServoBus>) -> Box<dyn Model> {
    Box::new(urukul::Urukul::new(urukul::Options {
        chip,
        revision,
        clocks: [100e6, 1e9, 125e6],
        servo,
        sync_skew_ps: [300.0; urukul::CHANNELS],
    }))
}

/// A card of each kind, and its number of lines.
fn card(kind: usize) -> (Box<dyn Model>, usize) {
    use urukul::{Chip, Revision, ServoBus};
    let of_urukul = |chip, revision, servo| (urukul_of(chip, revision, servo), urukul::INPUTS.len());
    match kind {
        0 => of_urukul(Chip::Ad9910, Revision::Eight, None),
        1 => of_urukul(Chip::Ad9910, Revision::Nine, None),
        2 => of_urukul(Chip::Ad9912, Revision::Nine, None),
        3 => of_urukul(Chip::Ad9910, Revision::Nine, Some(ServoBus::Counts)),
        4 => of_urukul(Chip::Ad9910, Revision::Eight, Some(ServoBus::Selects)),
        5 => {
            let options = mirny::Options {
                clocks: [100e6, 0.0, 50e6, 0.0],
                revision: 1,
                almazny: Some(mirny::Almazny::Legacy),
            };
            (Box::new(mirny::Mirny::new(options)), mirny::INPUTS.len())
        }
        6 => {
            let options = serial_dac::Options {
                chip: ad53xx_chip::AD5372,
                leds: true,
                shares: false,
                vref: 5.0,
                wired: [true; 2],
                selected: true,
            };
            (Box::new(serial_dac::SerialDac::new(options)), serial_dac::INPUTS.len())
        }
        7 => {
            let card = sampler::Sampler::new(sampler::SPANS[1], [1.0; sampler::INPUTS_OF_CARD]);
            (Box::new(card), sampler::INPUTS.len())
        }
        8 => {
            let options = ddsbus::Options {
                chips: 3,
                clock: 3e9,
                synchronised: true,
            };
            (Box::new(ddsbus::DdsBus::new(options)), ddsbus::INPUTS.len())
        }
        9 => {
            let options = shuttler::Options {
                adc_volts: [0.0; shuttler::ADC_INPUTS],
                relays: true,
                update: 8,
            };
            (Box::new(shuttler::Shuttler::new(options)), shuttler::INPUTS.len())
        }
        10 => (Box::new(fastino::Fastino::new()), super::fastlink::INPUTS.len()),
        11 => (Box::new(phaser::Phaser::default()), super::fastlink::INPUTS.len()),
        12 => {
            let options = ad9834::Options {
                clock_hz: 75e6,
                full_scale_dbm: 0.0,
            };
            (Box::new(ad9834::Ad9834::new(options)), ad9834::INPUTS.len())
        }
        13 => (Box::new(hmc542b::Hmc542b::new()), hmc542b::INPUTS.len()),
        14 => {
            let options = songbird::Options {
                tones: 4,
                clock: true,
                update: 8,
            };
            (Box::new(songbird::Songbird::new(options)), songbird::INPUTS.len())
        }
        15 => (Box::new(dac34h84::Dac34h84::new()), dac34h84::INPUTS.len()),
        16 => {
            let chip = trf372017::Trf372017::new(trf372017::REFERENCE);
            (Box::new(chip), trf372017::INPUTS.len())
        }
        _ => {
            let card = novogorny::Novogorny::new(5.0, [1.0; novogorny::INPUTS_OF_CARD]);
            (Box::new(card), novogorny::INPUTS.len())
        }
    }
}

proptest! {
    #[test]
    fn random_line_changes_cause_no_panic(
        kind in 0usize..18,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), 0u64..100, 0u8..50), 0..600),
    ) {
        let (mut model, lines) = card(kind);
        let (mut at, mut out) = (0, Outbox::default());
        for (line, level, later, what) in changes {
            let end: Ns = at + later;
            while let Some(next) = model.next().filter(|next| *next <= end) {
                prop_assert!(next >= at, "it acts in the past");
                at = next;
                model.act(at, &mut out);
                prop_assert!(model.next().is_none_or(|next| next > at), "it acts again at once");
            }
            at = end;
            let signal = match what {
                0 => Signal::Clock(level.then_some(Square { hz: 62.5e6, edge: at })),
                _ => Signal::Level(level),
            };
            let change: [Change; 1] = [(line.index(lines), signal)];
            model.input(at, &change, &mut out);
        }
        prop_assert!(model.report(at).is_object());
        model.unfinished();
        prop_assert!(out.failure.is_none());
    }
}
