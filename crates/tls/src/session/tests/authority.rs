//! Certificates for the tests: an authority of their own, and good and bad certificates from it.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    date_time_ymd,
};
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A certificate with its key, both as PEM.
pub(crate) struct Signed {
    pub(crate) chain_pem: String,
    pub(crate) key_pem: String,
}

impl Signed {
    pub(crate) fn chain(&self) -> Vec<CertificateDer<'static>> {
        CertificateDer::pem_slice_iter(self.chain_pem.as_bytes()).map(Result::unwrap).collect()
    }

    pub(crate) fn key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::from_pem_slice(self.key_pem.as_bytes()).unwrap()
    }
}

pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new() -> Self {
        Self::named("Test authority")
    }

    pub(crate) fn named(name: &str) -> Self {
        let params = authority_params(name);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(crate) fn pem(&self) -> Vec<u8> {
        self.0.pem().into_bytes()
    }

    pub(crate) fn roots(&self) -> RootCertStore {
        let mut store = RootCertStore::empty();
        store.add(self.0.der().clone()).unwrap();
        store
    }

    fn sign(&self, params: &CertificateParams, key: &KeyPair) -> Signed {
        let certificate = params.signed_by(key, &self.0).unwrap();
        Signed { chain_pem: certificate.pem(), key_pem: key.serialize_pem() }
    }

    pub(crate) fn server(&self, names: &[&str]) -> Signed {
        self.sign(&params(names), &KeyPair::generate().unwrap())
    }

    pub(crate) fn rsa_server(&self, names: &[&str]) -> Signed {
        self.sign(&params(names), &KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).unwrap())
    }

    pub(crate) fn server_between(&self, begin_year: i32, end_year: i32) -> Signed {
        let mut params = params(&["localhost"]);
        params.not_before = date_time_ymd(begin_year, 1, 1);
        params.not_after = date_time_ymd(end_year, 1, 1);
        self.sign(&params, &KeyPair::generate().unwrap())
    }

    pub(crate) fn client(&self) -> Signed {
        let mut params = params(&["a client"]);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(&params, &KeyPair::generate().unwrap())
    }
}

fn params(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    CertificateParams::new(names).unwrap()
}

fn authority_params(name: &str) -> CertificateParams {
    let mut params = params(&[]);
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}

/// What `openssl req -x509` makes: a certificate that signs itself and calls itself an authority.
pub(crate) fn self_signed(name: &str) -> Signed {
    let mut params = params(&[name]);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    Signed { chain_pem: params.self_signed(&key).unwrap().pem(), key_pem: key.serialize_pem() }
}
